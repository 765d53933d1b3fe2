"""Join evaluations of a variant whose seeds were trained apart, on several machines or in several clones."""

from pathlib import Path
from typing import Any

import pandas as pd

from stages.system.digests import result_folder, results_in, verified
from stages.system.errors import Parser, StudyError, command
from stages.system.files import read_json, write_json, write_text

WHERE = ("commit", "params_sha256", "device", "precision", "kernels")  # of a provenance: what parts may differ in


@command
def main() -> None:
    """Write the evaluation of all seeds, as if one run had trained them."""
    parser = Parser(prog="python -m stages.join", description=main.__doc__)
    parser.add_argument("parts", nargs="+", type=Path, help="folders of evaluations, each of seeds of its own")
    parser.add_argument("--to", required=True, type=Path, help="the folder to write")
    given = parser.parse_args()
    run = joined({part: read_json(verified(part / "run.json")) for part in given.parts})
    with result_folder(given.to) as folder:
        for suffix, separator in ((".tsv", "\t"), (".csv", ",")):
            for name in {path.name for part in given.parts for path in results_in(part, suffix)}:
                files = [verified(part / name) for part in given.parts]
                tables = [pd.read_csv(file, sep=separator, dtype=str, keep_default_na=False) for file in files]
                write_text(folder / name, pd.concat(tables).to_csv(sep=separator, index=False, lineterminator="\n"))
        write_json(folder / "run.json", run)


def joined(runs: dict[Path, dict[str, Any]]) -> dict[str, Any]:
    """run.json of all parts together, by the folders' own.

    Raises StudyError: a part has other settings or data than the first one, or a seed that one before it has.
    """
    (first, whole), *others = runs.items()
    seeds = dict.fromkeys(whole["seeds"], whole)
    for part, run in others:
        if _trained(run) != _trained(whole):
            raise StudyError(f"{part} has another variant, other settings or other data than {first}; leave it out")
        if twice := sorted(seeds.keys() & run["seeds"]):
            raise StudyError(f"{part} has seed {twice[0]}, as one before it has; leave one of them out")
        seeds |= dict.fromkeys(run["seeds"], run)
    provenances = [run["provenance"] for run in runs.values()]
    made = provenances[0] | {key: " + ".join(dict.fromkeys(each[key] for each in provenances)) for key in WHERE}
    return whole | {
        "seeds": [*seeds],
        "pretrain_loss": round(sum(run["pretrain_loss"] for run in seeds.values()) / len(seeds), 4),
        "documents_per_second": round(len(seeds) / sum(1 / run["documents_per_second"] for run in seeds.values()), 1),
        "pretrain_seconds": {seed: taken for run in runs.values() for seed, taken in run["pretrain_seconds"].items()},
        "provenance": made | {"seconds": round(sum(each["seconds"] for each in provenances), 1)},
    }


def _trained(run: dict[str, Any]) -> Any:
    """What all seeds must have in common."""
    made = run["provenance"]
    return run["variant"], made["settings"]["variant"], made["settings"]["recipe"], made["vocabulary_sha256"]


if __name__ == "__main__":
    main()
