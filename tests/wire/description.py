"""OpenAI's description of its API, as a judge of request bodies."""

import json

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from referencing import Registry
from referencing.jsonschema import DRAFT202012

ROOTS = {"openai": "CreateChatCompletionRequest", "openai-responses": "CreateResponse"}


class Description:
    def __init__(self, file):
        with open(file) as text:
            self.document = lenient(json.load(text))
        resource = DRAFT202012.create_resource(self.document)
        self.registry = Registry().with_resource("urn:api", resource)
        self.validators = {}

    def judge(self, wire, body):
        """Returns the faults of a request body: where, without numbers, and what."""
        root = {"$ref": f"urn:api#/components/schemas/{ROOTS[wire]}"}
        error = best_match(self.validator(root).iter_errors(body))
        if error is not None:
            return [f"{place(error.absolute_path)}: {error.validator}: {json.dumps(error.validator_value)[:120]}"]
        return sorted({f"{where}: a field that the description does not have" for where in self.unknown(body, root, "")})

    def validator(self, schema):
        key = json.dumps(schema, sort_keys=True)
        if key not in self.validators:
            self.validators[key] = Draft202012Validator(schema, registry=self.registry)
        return self.validators[key]

    def unknown(self, value, schema, where):
        """Returns the fields that no schema names which applies to them."""
        parts = list(self.applied(value, schema))
        if isinstance(value, list):
            for item in value:
                for part in parts:
                    if isinstance(part.get("items"), dict):
                        yield from self.unknown(item, part["items"], where + "[]")
        if not isinstance(value, dict):
            return
        is_open = not parts or any(part.get("additionalProperties") not in (None, False) for part in parts)
        has_names = any(part.get("properties") for part in parts)
        for name, field in value.items():
            named = [part["properties"][name] for part in parts if name in part.get("properties", {})]
            if not named and has_names and not is_open:
                yield f"{where}.{name}"
            for below in named:
                yield from self.unknown(field, below, f"{where}.{name}")

    def applied(self, value, schema):
        """Returns the schemas that apply to a value: through references, and of alternatives those that it fits."""
        if "$ref" in schema:
            target = self.document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
            yield from self.applied(value, target)
        yield schema
        for part in schema.get("allOf", []):
            yield from self.applied(value, part)
        for part in schema.get("anyOf", []):
            if self.validator(absolute(part)).is_valid(value):
                yield from self.applied(value, part)


def absolute(schema):
    """Returns a schema whose references are to the description, from anywhere."""
    if isinstance(schema, list):
        return [absolute(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    is_reference = isinstance(schema.get("$ref"), str) and schema["$ref"].startswith("#")
    parts = {name: absolute(part) for name, part in schema.items() if not (name == "$ref" and is_reference)}
    return {**parts, "$ref": f"urn:api{schema['$ref']}"} if is_reference else parts


def lenient(schema):
    """Returns schemas in which `nullable`, a keyword of an older version that the description still has, is a type, and one of some
    alternatives is enough: those of the description overlap.
    """
    if isinstance(schema, list):
        return [lenient(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {"anyOf" if name == "oneOf" else name: lenient(part) for name, part in schema.items()}
    if parts.get("nullable") is True:
        del parts["nullable"]
        return {"anyOf": [parts, {"type": "null"}]}
    return parts


def place(path):
    return "".join("[]" if isinstance(step, int) else f".{step}" for step in path)
