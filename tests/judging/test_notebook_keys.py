"""A notebook that judges with a key in its environment, and meets every error there is: the key is nowhere after."""

import json
import re

import nbformat
import pytest
from judging_stub import serving
from judging_toys import a_run

KEY = "sk-secret-0123456789abcdef"
PASS = "이유.\n판정: 합격"

CELLS = [
    # Everything that could tell: the longest tracebacks, all logs at DEBUG, on the page and in a file.
    "%xmode Verbose\nimport logging, sys\n"
    "logging.basicConfig(level=logging.DEBUG, handlers=[logging.StreamHandler(sys.stdout), logging.FileHandler('debug.log')])",
    "import os\nimport fcb_toolkit as fcb\nfrom fcb_toolkit.judging import JudgeOptions, audit, judged\n"
    "from fcb_toolkit.models.openai_server import OpenAIServer\n"
    "run = fcb.load_run('run')\nmodel = fcb.load_model('openai:m', base_url=URL + '/good', retries=0)",
    "run = judged(run, model)\nrun",
    "fcb.to_frame(run)",
    "display(model, model.describe(), vars(model), audit(run).judges)",
    "bad = fcb.load_model('openai:m', base_url=URL + '/500', retries=0)\n"
    "judged(run, bad, JudgeOptions(votes=2)).verdicts['rubric']",
    "fcb.evaluate(bad, run.cases, 'errors', progress=False).replies",
    "refused = fcb.load_model('openai:m', base_url=URL + '/401', retries=0)\njudged(run, refused, JudgeOptions(votes=3))",
    "fcb.evaluate(refused, run.cases, 'refused', progress=False)",
    "given = fcb.load_model('openai:m', base_url=URL + '/401', api_key=os.environ['OPENAI_API_KEY'], retries=0)\n"
    "fcb.evaluate(given, run.cases, 'given', progress=False)",
    "fcb.load_model('openai:m', api_key=os.environ['OPENAI_API_KEY'], nonsense=1)",
    "fcb.load_model('embedded', api_key=os.environ['OPENAI_API_KEY'])",
    "fcb.load_model('openai:m', base_url='http://me:' + os.environ['OPENAI_API_KEY'] + '@localhost/v1')",
    "fcb.load_model('openai:m', base_url='http://localhost/v1?key=' + os.environ['OPENAI_API_KEY'])",
    "OpenAIServer('m', 'http://localhost/' + os.environ['OPENAI_API_KEY'])",
    "os.environ['OPENAI_BASE_URL'] = 'http://me:' + os.environ['OPENAI_API_KEY'] + '@localhost/v1'\n"
    "fcb.load_model('openai:m')",
    "def broken(model):\n    raise RuntimeError('ours')\nbroken(model)",
    "import pickle\npickle.dumps(model)",
    "%tb",
    "from fcb_toolkit.cli import main\n"
    "main(['judge', 'run', '--judge', 'm', '--base-url', URL + '/500', '--retries', '0', '--votes', '5'])",
    "main(['judge', 'run', '--judge', 'm', '--base-url', URL + '/401', '--retries', '0', '--votes', '5'])",
    "main(['judge', 'run', '--judge', 'm', '--base-url', URL + '/good', '--notes'])\nmain(['report', 'run'])",
]


def behave(handler, body, number):
    """The server repeats the key in bodies and headers, as a gateway in debugging does."""
    sent = handler.headers["Authorization"]
    error = json.dumps({"error": {"message": f"wrong: {sent}", "key": sent.split()[-1]}})
    if "/401/" in handler.path:
        handler.send(401, error, X_Sent=sent, WWW_Authenticate=sent)
    elif "/500/" in handler.path:
        handler.send(500, error, X_Sent=sent)
    else:
        handler.say(f"{sent}\n{PASS}")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the kernel's own
def test_no_key_in_an_executed_notebook_or_in_any_file_that_it_left(tmp_path, monkeypatch):
    from nbclient import NotebookClient

    folder = tmp_path / "work"
    a_run(folder / "run", 5)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with serving(behave) as server:
        head = f"URL = {server.url.removesuffix('/v1')!r}"
        cells = [nbformat.v4.new_code_cell(source) for source in (head, *CELLS)]
        notebook = nbformat.v4.new_notebook(cells=cells)
        client = NotebookClient(
            notebook,
            timeout=600,
            kernel_name="python3",
            allow_errors=True,
            resources={"metadata": {"path": str(folder)}},
        )
        client.execute()
        assert set(server.keys) == {f"Bearer {KEY}"} and len(server.keys) > 20
    nbformat.write(notebook, folder / "executed.ipynb")
    told = (folder / "executed.ipynb").read_text("utf-8")
    errors = [output.ename for cell in cells for output in cell.outputs if output.output_type == "error"]
    assert errors.count("ModelError") == 7 and "RuntimeError" in errors and "UnknownName" in errors
    # The test would see nothing if nothing had been told.
    assert "the server refused" in told and "Error code: 500" in told and "[key]" in told
    log = (folder / "debug.log").read_text("utf-8")
    assert "X-Sent" in log
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"votes.jsonl", "replies.jsonl", "manifest.json", "notes.jsonl", "items-run.html"} <= {
        path.name for path in files
    }
    # Colours may stand within a word of a traceback.
    assert KEY not in re.sub(r"(\\u001b|\x1b)\[[0-9;]*m", "", told)
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
