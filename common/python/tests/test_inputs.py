from shared import inputs


def test_ten_thousand_characters() -> None:
    text = "😀" * 10_000
    assert inputs.note_text(f'{{"text":"{text}"}}'.encode()) == text
