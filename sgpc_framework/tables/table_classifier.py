"""A classifier that takes tables: how their columns are encoded, and the model behind it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.design import Design, build
from sgpc_framework.engine.progress import Progress
from sgpc_framework.errors import InputError, ModelFileError
from sgpc_framework.model.classes import Classifier, models_of
from sgpc_framework.model.dask_collections import lazy_where_the_rows_are
from sgpc_framework.rows.checking import is_dask_collection
from sgpc_framework.tables.complaints import Complaints
from sgpc_framework.tables.data_frames import as_table
from sgpc_framework.tables.encoding import MAX_WORDS, Encoding, NumberColumn
from sgpc_framework.tables.labels import labels_of, training_labels
from sgpc_framework.tables.row_weights import weights_of
from sgpc_framework.tables.table import Table

if TYPE_CHECKING:
    from sgpc_framework.files.checkpoints import Checkpoint

Floats = NDArray[np.float64]

DEFAULT_DESIGN = "accurate"
"""The preset that is fitted where no design is given."""


@attrs.frozen(eq=False, repr=False)
class TableClassifier:
    """A model with the encoding of its training table; ``target`` is the column it predicts.

    What takes a table here also takes a pandas or polars frame, a mapping of columns, one row as a
    mapping from names to values, a list of such rows, or rows as lists in the order of
    ``encoding.names``; ``fit``, ``predict`` and the methods of
    probabilities a Dask data frame, whose rows stay where they are.
    """

    encoding: Encoding
    target: str
    model: Classifier

    @classmethod
    def fit(
        cls,
        data: Any,
        target: str | int,
        design: Design | None = None,
        *,
        sample_weight: Any = None,
        drop: Collection[str] = (),
        words: Collection[str] = (),
        standardise: bool = True,
        impute: bool = False,
        unseen: Literal["refuse", "zero"] = "refuse",
        max_words: int = MAX_WORDS,
        progress: Callable[[Progress], object] = lambda _: None,
        checkpoint: Checkpoint | str | PathLike[str] | None = None,
    ) -> TableClassifier:
        """Learn the encoding of every column but the target and those to ``drop``, then fit.

        ``target`` is a name, or a position counted from 1 (-1 is the last). ``sample_weight`` is
        such a column, too, which is then no feature; or a number for each row. The encoding is
        learnt from all rows alike. The other arguments are those of ``Encoding.learn`` and
        ``Design.fit``.
        """
        if is_dask_collection(data):
            from sgpc_framework.adapters.dask.frame_partitions import FrameFit

            chosen = design or build(DEFAULT_DESIGN)
            return cls(
                *FrameFit(data, target, sample_weight, drop, words, max_words).fitted(
                    chosen,
                    progress,
                    standardise=standardise,
                    impute=impute,
                    unseen=unseen,
                    checkpoint=checkpoint,
                )
            )
        table = as_table(data)
        name = table.column(target).name
        features = table.without([*drop, name])
        as_words = {table.column(word).name for word in words}
        complaints = Complaints(table.source)
        with complaints.collected():
            _, labels = training_labels(table, target)
        if isinstance(sample_weight, (str, int)):
            column = table.column(sample_weight).name
            if column == name:
                raise InputError(
                    f"{table.source}: wanted labels and weights in two columns, found both in "
                    f"{name!r}"
                )
            features = table.without([*drop, name, column])
            with complaints.collected():
                _, sample_weight = weights_of(table, column)
        with complaints.collected():
            encoding = Encoding.learn(
                features,
                standardise=standardise,
                impute=impute,
                unseen=unseen,
                words=as_words.intersection(features.names),
                max_words=max_words,
            )
        complaints.check()
        chosen = design or build(DEFAULT_DESIGN)
        X = encoding.encode(features)
        model = chosen.fit(
            X, labels, sample_weight=sample_weight, progress=progress, checkpoint=checkpoint
        )
        return cls(encoding, name, model)

    @classmethod
    def of_matrix_model(
        cls, model: Classifier, table: Table, target: str | None = None
    ) -> TableClassifier:
        """A model that was fitted to a matrix, for the columns of a table besides the target."""
        width = _width(model)
        names = [name for name in table.names if name != target]
        if width is None or len(names) != width:
            wanted = (
                "objects that are no tables" if width is None else f"{width} columns of numbers"
            )
            raise InputError(
                f"{table.source}: the model, which was fitted to arrays, takes {wanted}, found "
                f"{len(names)} columns"
            )
        return cls(Encoding(tuple(map(NumberColumn, names))), target or "", model)

    def __len__(self) -> int:
        """The number of basis vectors."""
        return len(self.model)

    def __repr__(self) -> str:
        columns = len(self.encoding.names)
        return f"TableClassifier({self.target!r} from {columns} columns, {self.model!r})"

    @property
    def classes(self) -> NDArray[Any]:
        """The labels; columns of probabilities follow this order."""
        return self.model.classes

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes that ``truncated`` accepts."""
        return self.model.sizes

    def encode(self, data: Any) -> Floats:
        """The matrix that the model sees."""
        if isinstance(data, Mapping):
            row = self.encoding.encode_row(data)
            if row is not None:
                return row
        return self.encoding.encode(as_table(data, self.encoding.names))

    @lazy_where_the_rows_are
    def predict(self, data: Any) -> NDArray[Any]:
        """The most probable label of each row."""
        return self.model.predict(self.encode(data))

    @lazy_where_the_rows_are
    def predict_proba(self, data: Any) -> Floats:
        """The probability of each class for each row."""
        return self.model.predict_proba(self.encode(data))

    @lazy_where_the_rows_are
    def predict_log_proba(self, data: Any) -> Floats:
        """Logarithms of the probabilities, finite even where one rounds to 0."""
        return self.model.predict_log_proba(self.encode(data))

    def staged_predict_proba(self, data: Any) -> Iterator[Floats]:
        """The probabilities of the model of each size, in the order of ``sizes``."""
        return self.model.staged_predict_proba(self.encode(data))

    def truncated(self, size: int) -> TableClassifier:
        """The classifier of that size, one of ``sizes``."""
        return attrs.evolve(self, model=self.model.truncated(size))

    def labels(self, data: Any) -> NDArray[Any]:
        """The labels that a table has in the target column, all of classes that the model knows."""
        table = as_table(data)
        column = table.column(self.target)
        labels = labels_of(table, column)
        if self.classes.dtype.kind in "US" and column.is_numeric:  # "1", "2" and "x" in training
            labels = column.as_words().astype(np.str_)
        strange = ~np.isin(labels, self.classes)
        if strange.any():
            row = int(strange.argmax())
            known = ", ".join(str(label) for label in self.classes.tolist())
            raise InputError(
                f"{table.where(row, self.target)}: wanted one of the classes that the model knows "
                f"({known}), found {labels[row]!s}"
            )
        return labels.astype(self.classes.dtype)

    def codes(self, data: Any) -> NDArray[np.intp]:
        """The positions of these labels among ``classes``."""
        return np.searchsorted(self.classes, self.labels(data))

    def save(self, path: str | PathLike[str]) -> None:
        """Write encoding and model to one file, which ``sgpc_framework.load`` reads."""
        from sgpc_framework.files.model_files import save

        save(self.model, path, table=self.as_section())

    def as_section(self) -> dict[str, Any]:
        """What a model file says of the table, as plain data."""
        return {"target": self.target, **self.encoding.as_section()}

    @classmethod
    def from_section(cls, model: Classifier, section: Mapping[str, Any]) -> TableClassifier:
        """The classifier of a model file; ``ModelFileError`` if the section is not sound."""
        try:
            target, encoding = section["target"], Encoding.from_section(section)
            if not isinstance(target, str):
                raise TypeError(f"wanted the name of a column, found {target!r}")
            if _width(model) != len(encoding.features):
                raise ValueError("the model has another number of features")
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise ModelFileError(f"this does not describe a table: {error}") from error
        return cls(encoding, target, model)


def _width(model: Classifier) -> int | None:
    """The number of features, which all models of a file share; None if there are none."""
    one = next(iter(models_of(model).values()))
    return one.inputs.shape[1] if one.inputs.ndim == 2 else None
