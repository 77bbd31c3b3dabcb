from typing import Literal, TypedDict


class Line(TypedDict):
    name: str
    count: int


def main(lines: list[Line], sort: Literal["name", "count"] = "name") -> dict[str, int]:
    """Add up the counts of lines by name.

    Args:
        lines: The lines.
        sort: What the result is sorted by.
    """
    if not lines:
        raise Unsure("no lines")
    counts: dict[str, int] = {}
    for line in lines:
        counts[line["name"]] = counts.get(line["name"], 0) + line["count"]
    return dict(sorted(counts.items(), key=lambda item: item[0] if sort == "name" else str(item[1])))
