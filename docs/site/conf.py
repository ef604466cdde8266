"""The site: ``sphinx-build -W --keep-going -c docs/site . build/site``, with the extra ``docs``.

The source folder is the whole project, so that a link from one page to another, to the README or to
an example's README is the same on a code host and here. What is no page is left out below.
"""

from __future__ import annotations

import sys
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))

project = "sgpc-framework"
author = "The sgpc-framework authors"
project_copyright = author
release = version = version_of(project)
language = "en-GB"

root_doc = "docs/site/index"
include_patterns = ["*.md", "docs/**", "plugins/examples/*/README.md"]
exclude_patterns = [
    ".*",
    "**/.*",
    "build",
    "dist",
    "docs/gallery",
    "docs/site/static",
]
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_gallery.gen_gallery",
    "plain_docstrings",
    "play_page",
]

# ------------------------------------------------------------------------------------- Markdown
myst_heading_anchors = 4  # the anchors that code hosts make
myst_enable_extensions = ["deflist"]
suppress_warnings = ["config.cache"]

# ------------------------------------------------------------------------------------- reference
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
add_module_names = False
toc_object_entries_show_parents = "hide"
nitpicky = True
nitpick_ignore_regex = [
    # What is no API has no entry: types of the standard library and of others, and our inner ones.
    ("py:(class|obj|data|exc)", r"(?!sgpc_framework\.(authors|protocols|testing)\.).*"),
]

# ------------------------------------------------------------------------------------- links
# Links inside the project are checked by every build: one that leads nowhere is a warning, and
# warnings are errors. The builder `linkcheck` looks at those to other hosts; it needs a network.
linkcheck_timeout = 20
linkcheck_retries = 2

# ------------------------------------------------------------------------------------- gallery
sphinx_gallery_conf = {
    "examples_dirs": "docs/gallery",
    "gallery_dirs": "docs/site/gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 3600,
    "plot_gallery": "True",
    "capture_repr": (),
}

# ------------------------------------------------------------------------------------- pages
html_theme = "furo"
html_title = project
html_static_path = ["static"]
templates_path = ["templates"]
html_css_files = ["site.css"]
html_additional_pages = {"index": "forward.html"}  # the front page has the address that people try
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5fa8", "color-brand-content": "#1f5fa8"},
    "dark_css_variables": {"color-brand-primary": "#7ab2f4", "color-brand-content": "#7ab2f4"},
}
