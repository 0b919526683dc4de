import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
import main  # type: ignore[import-not-found,unused-ignore]


class Test(unittest.TestCase):
    def test_answers(self) -> None:
        assert main.answer("GET", "/healthz?x=1")[0] == 200
        assert main.answer("POST", "/healthz")[2] == {"Allow": "GET, HEAD"}
        assert main.answer("GET", "/nothing")[0] == 404

    def test_the_statements_are_there(self) -> None:
        assert "recipe_by_id" in main.statements()


if __name__ == "__main__":
    unittest.main()
