"""The way from rows to the table of one FID score stays short enough to be followed."""

import gc

from tests.evaluation.call_path import count_calls, score_once

MAX_FUNCTIONS, MAX_FILES, MAX_FILE_CHANGES = 146, 22, 243


def test_a_score_takes_few_functions_files_and_changes_of_file():
    score_once()  # the first call imports
    gc.collect()  # what other tests left would call back in between
    path = count_calls(score_once)
    assert len(path.functions) <= MAX_FUNCTIONS
    assert len(path.files) <= MAX_FILES
    assert path.file_changes <= MAX_FILE_CHANGES
