import pytest


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """The tiny models are faster on one thread, and threads that wait for each other crawl on a busy machine."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
