"""A model behind HTTP, with the extra ``serve``: ``pip install 'sgpc-framework[serve]'``.

``fields`` says what a row may hold, ``row_reader`` reads rows from JSON, ``application`` answers
requests within ``request_limits``, ``traffic`` counts them, ``openapi`` and ``guide_page`` describe
it all, and ``server`` listens.

    from sgpc_framework.serving.application import application

    app = application(sgpc_framework.load("loans.sgpc"))  # for any ASGI server
"""
