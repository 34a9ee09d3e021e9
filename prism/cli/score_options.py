"""Arguments and options of the commands on score files and judgements (`scores`), as types of their parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prism.cli.options import names_option, paths_option

# Files. ---------------------------------------------------------------------------------------------------------

BaseFile = Annotated[
    Path, typer.Argument(help="Results that are kept: .jsonl or .parquet, as `prism run` writes them.")
]
NewFile = Annotated[
    Path | None, typer.Argument(help="Results that are held against them; with --by more of the same run.")
]
ScoreRows = Annotated[Path, typer.Argument(help="Score rows, .jsonl or .parquet, as `prism run` writes them.")]
RowsOrJudgements = Annotated[
    Path, typer.Argument(help="Score rows of `prism run`; or judgements, people against people.")
]
JudgementFiles = Annotated[
    list[Path] | None,
    typer.Argument(help="Judgements: .jsonl, .csv, .parquet, or of lm-eval, Inspect, promptfoo, FastChat, OpenAI."),
]
RunFiles = Annotated[list[Path], typer.Argument(metavar="RUN...", help="Score rows of each run, .jsonl or .parquet.")]
GradedProblems = Annotated[
    str, typer.Option(help="What was graded against: a folder, a file (.toml, .json, .jsonl), or a shipped id.")
]
GradedRollouts = Annotated[Path | None, typer.Option(help="What was graded, for its texts: as `run` takes it.")]

# Of a comparison. -----------------------------------------------------------------------------------------------

GroupFields = Annotated[
    list[str], names_option(metavar="FIELD,...", help="Compare groups of the rows, as by model: a field kept by `run`.")
]
BaseGroup = Annotated[str, typer.Option(metavar="NAME", help="With --by: each group against this one.")]
Gates = Annotated[
    list[str],
    names_option(
        metavar="GATE,...",
        keeps_empty=True,
        help="any-drop, any-lost-node, any-missing, item<-0.1, mean<-0.01, final<-0.02. [default: item<0]",
    ),
]
NoGate = Annotated[bool, typer.Option("--no-gate", help="Judge nothing; without it and any gate, no score may fall.")]
LeastMean = Annotated[float | None, typer.Option(min=0, max=1, help="What NEW's mean score must reach.")]
LeastItem = Annotated[float | None, typer.Option(min=0, max=1, help="What each score of NEW must reach.")]
AllowChanged = Annotated[
    bool, typer.Option("--allow-changed", help="Compare where problem files or options of the run have changed.")
]
AcrossRules = Annotated[
    bool, typer.Option("--across-rules", help="Compare rows of other rules too, as of an older PRISM.")
]
UpdateBaseline = Annotated[
    bool, typer.Option("--update-baseline", help="Instead make BASE a copy of NEW; no gate is judged.")
]
JunitFile = Annotated[Path | None, typer.Option(help="Also a file of JUnit XML.")]
SummaryFile = Annotated[Path | None, typer.Option(help="Append a summary in Markdown to this file.")]
ForGithub = Annotated[
    bool, typer.Option("--github", help="Annotate, on standard error; --summary is $GITHUB_STEP_SUMMARY.")
]
NewIncidents = Annotated[int, typer.Option(min=0, help="Failures of the grader in NEW that are put up with.")]
ComparisonOut = Annotated[
    Path | None, typer.Option("--out", "-o", help="Tables to write: .csv, .md, .tex, or a folder for --format.")
]
ComparisonTables = Annotated[
    list[str],
    names_option("--table", metavar="NAME,...", help="Only these tables: changed, change; with --by groups, ..."),
]

# Of an agreement. -----------------------------------------------------------------------------------------------

RaterFields = Annotated[
    list[str], names_option("--map", help="Fields: score=FIELD,problem_id=FIELD,sample_id=FIELD,rater=FIELD.")
]
ScoreName = Annotated[str, typer.Option(help="Number of a score row: score, final_correct, policies.strict.")]
JudgeScale = Annotated[str, typer.Option(help="Lowest and highest score of the judges, 1:10; they become 0 and 1.")]
Cuts = Annotated[
    list[str],
    names_option(metavar="SCORE,...", help="Compare pass and fail: scores from here up pass; or between labels."),
]
LabelNames = Annotated[
    list[str], names_option(keeps_empty=True, metavar="A,B,...", help="Compare names, without an order.")
]
LabelOrder = Annotated[
    list[str], names_option(keeps_empty=True, metavar="LOW,...,HIGH", help="Compare names, in this order.")
]
LabelDistance = Annotated[
    list[str], names_option(metavar="A:B=WEIGHT,...", help="Weights of disagreement, for a weighted kappa of names.")
]
Adjudicator = Annotated[str, typer.Option(metavar="RATER", help="Whose word settles where raters differ.")]
SheetKeyFile = Annotated[Path | None, typer.Option(help="Key of marking sheets, where it does not stand beside them.")]
SampleSize = Annotated[int | None, typer.Option(min=1, metavar="N", help="Instead draw N rollouts for people to mark.")]
Strata = Annotated[
    list[str],
    names_option(metavar="FIELD,...", help="Of the sample: score, problem, model, domain, level, or kept fields."),
]
SampleSeed = Annotated[int, typer.Option(min=0, help="Of the sample.")]
Oversample = Annotated[
    float, typer.Option(metavar="TIMES", help="How much more is drawn where rules and judges differ.")
]
SampleProblems = Annotated[str, typer.Option(help="Of the sample: what was graded against, as `report` takes it.")]
SampleRollouts = Annotated[Path | None, typer.Option(help="Of the sample: what was graded, as `run` takes it.")]
RolloutFields = Annotated[
    list[str], names_option("--map-rollouts", help="Fields of the rollouts: response=FIELD,problem_id=FIELD.")
]
SheetTitle = Annotated[str, typer.Option(help="Of the sheet's page.")]
AgreementOut = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Of a sample a folder, or a file .html or .csv; of an adjudicator a file .csv."),
]
MostDisagreements = Annotated[int, typer.Option(min=0, help="Largest disagreements that are listed of each pair.")]

# Of a report and a leaderboard. ---------------------------------------------------------------------------------

PageOrTables = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Page to write, .html; or tables: .csv, .md, .tex, or a folder for --format."),
]
CrossedFields = Annotated[
    list[str],
    names_option(metavar="FIELD,...", help="A table crossed by fields: model,domain,difficulty, or kept ones."),
]
AcrossFields = Annotated[list[str], names_option(metavar="FIELD,...", help="Fields whose values are its columns.")]
MeasureNames = Annotated[
    list[str],
    names_option(metavar="NAME,...", help="Its figures: score, final, strict, pass@4, time, tokens, cost, ..."),
]
Totals = Annotated[bool, typer.Option("--totals", help="Also over all values of its fields.")]
Intervals = Annotated[
    bool | None, typer.Option("--intervals/--no-intervals", help="Beside its figures. [default: unless --across]")
]
ReportTables = Annotated[list[str], names_option(metavar="NAME,...", help="Only these tables: by-model, problems, ...")]
JudgeFiles = Annotated[
    list[Path] | None,
    paths_option(metavar="FILE,...", help="Judgements of the same rollouts, as `agree` takes them."),
]
JudgeFields = Annotated[
    list[str], names_option("--map", help="Fields of the judgements: score=FIELD,problem_id=FIELD,sample_id=FIELD.")
]
Diagnosed = Annotated[
    bool, typer.Option("--diagnose", help="Say also what is wrong with formulas, and the first wrong step; slow.")
]
PageTitle = Annotated[str, typer.Option(help="Of the page.")]
FullPage = Annotated[bool, typer.Option("--full", help="Leave nothing out of the page, however large it gets.")]
Unfolded = Annotated[bool, typer.Option("--unfold", help="Fold nothing on the page, for print.")]
ModelFields = Annotated[
    list[str],
    names_option(
        metavar="FIELD,...",
        default=("model",),
        help="Kept fields that name a model; without them the run's name does. [default: model]",
    ),
]
BoardTables = Annotated[
    list[str], names_option("--table", metavar="NAME,...", help="Only these tables: ranking, apart-1, ...")
]
