"""A classifier that takes tables: how their columns are encoded, and the model behind it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.config.presets import DEFAULT_PRESET
from sgpc_framework.design import Design, build
from sgpc_framework.engine.progress import Progress
from sgpc_framework.errors import InputError, ModelFileError
from sgpc_framework.model.classes import Classifier, models_of
from sgpc_framework.model.costs import Costs
from sgpc_framework.model.dask_collections import lazy_where_the_rows_are
from sgpc_framework.rows.checking import is_dask_collection
from sgpc_framework.tables.complaints import Complaints
from sgpc_framework.tables.data_frames import as_table
from sgpc_framework.tables.encoding import MAX_WORDS, Encoding
from sgpc_framework.tables.feature_columns import NumberColumn, WordColumn
from sgpc_framework.tables.labels import labels_of, training_labels
from sgpc_framework.tables.row_weights import weights_of
from sgpc_framework.tables.table import Table

if TYPE_CHECKING:
    from sgpc_framework.adapters.sklearn_tables import SGPTableClassifier
    from sgpc_framework.files.checkpoints import Checkpoint
    from sgpc_framework.metrics.column_importance import Importance
    from sgpc_framework.model.explanation import Explanation

Floats = NDArray[np.float64]


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
        costs: Any = None,
    ) -> TableClassifier:
        """Learn the encoding of every column but the target and those to ``drop``, then fit.

        ``target`` is a name, or a position counted from 1 (-1 is the last). ``sample_weight`` is
        such a column, too, which is then no feature; or a number for each row. The encoding is
        learnt from all rows alike. ``costs`` are those of ``with_costs``. The other
        arguments are those of ``Encoding.learn`` and ``Design.fit``.
        """
        if is_dask_collection(data):
            from sgpc_framework.adapters.dask.frame_partitions import FrameFit

            chosen = design or build(DEFAULT_PRESET)
            on_workers = cls(
                *FrameFit(data, target, sample_weight, drop, words, max_words).fitted(
                    chosen,
                    progress,
                    standardise=standardise,
                    impute=impute,
                    unseen=unseen,
                    checkpoint=checkpoint,
                    costs=costs,
                )
            )
            return on_workers.with_costs(costs)
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
        if costs is not None:
            Costs.of(np.unique(labels), costs)  # what is wrong is said before the fit
        chosen = design or build(DEFAULT_PRESET)
        X = encoding.encode(features)
        model = chosen.fit(
            X, labels, sample_weight=sample_weight, progress=progress, checkpoint=checkpoint
        )
        return cls(encoding, name, model.with_costs(costs))

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
        """The label of each row that is most probable, or by its costs costs least."""
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

    def explain(self, data: Any, most: int = 3) -> list[Explanation]:
        """Of each row, which basis vectors its prediction comes from, in the words and units of
        the table: see ``Model.explain``."""
        from sgpc_framework.tables.table_explanations import explain_table

        return explain_table(self.model, self.encoding, self.encode(data), most)

    def decide(self, log_proba: Floats) -> NDArray[Any]:
        """The labels that ``predict`` gives to rows of these log probabilities."""
        return self.model.decide(log_proba)

    def with_costs(self, costs: Any) -> TableClassifier:
        """The same classifier, which decides by costs: see ``Model.with_costs``."""
        return attrs.evolve(self, model=self.model.with_costs(costs))

    def with_threshold(self, threshold: float) -> TableClassifier:
        """The same for two classes, which says the second where its probability is above."""
        return attrs.evolve(self, model=self.model.with_threshold(threshold))

    def with_target(self, data: Any, *, label: Any = None, **measure: float) -> TableClassifier:
        """The same with costs that reach a target, ``recall=0.9`` say, on the rows of a table,
        which has the labels in the target column: see ``Model.with_target``."""
        X, y = self.encode(data), self.labels(data)
        return attrs.evolve(self, model=self.model.with_target(X, y, label=label, **measure))

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

    def importance(self, data: Any, *, repeats: int = 5, seed: int = 0) -> list[Importance]:
        """By how much the log loss of some rows rises when a column is permuted, greatest first.

        All features of a column of words are permuted together. Take rows that the fit has not
        seen. Each record has ``column``, ``loss`` in nats and its ``noise``, a standard error.
        """
        from sgpc_framework.metrics.column_importance import permutation_importance

        table = as_table(data)
        return permutation_importance(
            self.model,
            self.encode(table),
            self.labels(table),
            self.encoding.features_of_columns,
            repeats=repeats,
            seed=seed,
        )

    def estimator(self) -> SGPTableClassifier:
        """An estimator of scikit-learn that fits as this was fitted, to any frame: for
        ``cross_val_score`` and the like. Its ``model_`` is a ``TableClassifier`` again."""
        from sgpc_framework.adapters.sklearn import SGPClassifier
        from sgpc_framework.adapters.sklearn_tables import SGPTableClassifier

        made, costs = self.model.provenance, self.model.costs
        config = DEFAULT_PRESET if made is None else dict(made.config)
        seed = 0 if made is None else made.config["seed"]
        matrix = None if costs is None else costs.matrix
        classifier = SGPClassifier(config, max_basis=None, costs=matrix, random_state=seed)
        counts = (len(c.words) for c in self.encoding.columns if isinstance(c, WordColumn))
        return SGPTableClassifier(
            classifier,
            words=self.encoding.words,
            max_words=max([MAX_WORDS, *counts]),
            unseen=self.encoding.unseen,
        )

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
