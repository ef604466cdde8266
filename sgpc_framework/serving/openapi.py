"""The description of a server in OpenAPI, from the columns and classes of its own model."""

from __future__ import annotations

from typing import Any

from sgpc_framework.serving.limits import Limits
from sgpc_framework.serving.refusals import MEDIA_TYPE
from sgpc_framework.serving.row_reader import RowReader

REFUSALS = {
    400: "The body is not JSON.",
    408: "The body did not come in time.",
    413: "The body is too large.",
    415: "The body is of another type, or packed.",
    422: "The rows cannot be used: what was wanted, what was found, and where.",
    503: "There are too many requests at a time, or the prediction took too long. Come again.",
}


def row_schema(reader: RowReader) -> dict[str, Any]:
    """A row: an object by column name, or a list of numbers."""
    if reader.named:
        return {
            "type": "object",
            "required": [field.name for field in reader.fields],
            "properties": {field.name: field.schema for field in reader.fields},
        }
    width = len(reader.fields)
    return {
        "type": "array",
        "items": reader.fields[0].schema,
        "minItems": width,
        "maxItems": width,
    }


def predict_operation(
    reader: RowReader, limits: Limits, classes: list[Any], answer: dict[str, Any]
) -> dict[str, Any]:
    """The operation ``POST /predict``, with a request and an answer to it as examples."""
    rows = {"type": "array", "items": row_schema(reader), "minItems": 1, "maxItems": limits.rows}
    request = {
        "type": "object",
        "required": ["rows"],
        "properties": {"rows": rows},
        "additionalProperties": False,
    }
    probability = {"type": "number", "minimum": 0, "maximum": 1}
    response = {
        "type": "object",
        "required": ["classes", "labels", "probabilities"],
        "properties": {
            "classes": {"const": classes},
            "labels": {"type": "array", "items": {"enum": classes}},
            "probabilities": {
                "type": "array",
                "items": {
                    "type": "array",
                    "items": probability,
                    "minItems": len(classes),
                    "maxItems": len(classes),
                },
            },
        },
    }
    return {
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": request, "example": reader.example}},
        },
        "responses": {
            "200": {
                "description": "A label for each row, and a probability for each of the classes.",
                "content": {"application/json": {"schema": response, "example": answer}},
            },
            **{str(status): refusal(text) for status, text in REFUSALS.items()},
        },
    }


def refusal(description: str) -> dict[str, Any]:
    """A response in the form of RFC 9457."""
    text = {"type": "string"}
    problem = {
        "type": "object",
        "required": ["where", "wanted", "found"],
        "properties": {"where": text, "wanted": text, "found": text},
    }
    schema = {
        "type": "object",
        "required": ["title", "status", "detail", "problems", "problem_count"],
        "properties": {
            "title": text,
            "status": {"type": "integer"},
            "detail": text,
            "problems": {"type": "array", "items": problem},
            "problem_count": {"type": "integer"},
        },
    }
    return {"description": description, "content": {MEDIA_TYPE: {"schema": schema}}}
