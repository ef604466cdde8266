"""The description of a server in OpenAPI, from the columns and classes of its own model."""

from __future__ import annotations

from typing import Any

from sgpc_framework.serving.refusals import MEDIA_TYPE
from sgpc_framework.serving.request_limits import Limits
from sgpc_framework.serving.row_reader import RowReader

REFUSALS = {
    400: "The body is not JSON.",
    408: "The body did not come in time.",
    413: "The body is too large.",
    415: "The body is of another type, or packed.",
    422: "The rows cannot be used: what was wanted, what was found, and where.",
    503: "There are too many requests at a time, or the prediction took too long. Come again.",
}


def schemas(reader: RowReader, limits: Limits, classes: list[Any]) -> dict[str, Any]:
    """What goes in and out, by the names that clients which are generated from it will have."""
    text = {"type": "string"}
    rows = {"type": "array", "items": _named("Row"), "minItems": 1, "maxItems": limits.rows}
    probability = {"type": "number", "minimum": 0, "maximum": 1}
    each = {
        "type": "array",
        "items": probability,
        "minItems": len(classes),
        "maxItems": len(classes),
    }
    return {
        "Row": row_schema(reader),
        "Rows": {**_object(rows=rows), "additionalProperties": False},
        "Prediction": _object(
            classes={"const": classes},
            labels={"type": "array", "items": {"enum": classes}},
            probabilities={"type": "array", "items": each},
        ),
        "Refusal": _object(
            title=text,
            status={"type": "integer"},
            detail=text,
            problems={"type": "array", "items": _named("Problem")},
            problem_count={"type": "integer"},
        ),
        "Problem": _object(where=text, wanted=text, found=text),
        "Health": _object(
            status={"const": "ok"},
            model=text,
            basis_vectors={"type": "integer"},
            classes={"const": classes},
            version=text,
        ),
    }


def row_schema(reader: RowReader) -> dict[str, Any]:
    """A row: an object by column name, or a list of numbers."""
    if reader.named:
        return _object(**{field.name: field.schema for field in reader.fields})
    width = len(reader.fields)
    return {
        "type": "array",
        "items": reader.fields[0].schema,
        "minItems": width,
        "maxItems": width,
    }


def predict_operation(request: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """The operation ``POST /predict``, with a request and an answer to it as examples."""
    body = {"schema": _named("Rows"), "example": request}
    return {
        "requestBody": {"required": True, "content": {"application/json": body}},
        "responses": {
            "200": _response(
                "A label for each row, and a probability for each of the classes.",
                {"schema": _named("Prediction"), "example": answer},
            ),
            **{
                str(status): _response(text, {"schema": _named("Refusal")}, MEDIA_TYPE)
                for status, text in REFUSALS.items()
            },
        },
    }


def health_operation(report: dict[str, Any]) -> dict[str, Any]:
    """The operation ``GET /health``."""
    health = {"schema": _named("Health"), "example": report}
    return {"responses": {"200": _response("The server can answer.", health)}}


def metrics_operation() -> dict[str, Any]:
    """The operation ``GET /metrics``."""
    figures = _response("The figures.", {"schema": {"type": "string"}}, "text/plain")
    return {"responses": {"200": figures}}


def _object(**properties: Any) -> dict[str, Any]:
    """An object with all of these."""
    return {"type": "object", "required": list(properties), "properties": properties}


def _named(schema: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{schema}"}


def _response(
    description: str, content: dict[str, Any], media_type: str = "application/json"
) -> dict[str, Any]:
    return {"description": description, "content": {media_type: content}}
