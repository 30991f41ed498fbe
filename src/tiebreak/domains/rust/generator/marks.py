"""A template that reads the part of a line at a mark, through a reader that borrows the line."""

from random import Random

from tiebreak.domains.rust.generator.sketch import Change, Sketch, Template, Twin, lines, site
from tiebreak.domains.words import pick, some


def after_mark(rng: Random) -> Sketch:
    """The part of a line before or after a mark, through a reader that borrows the line."""
    noun, part, thing = pick(rng, "nouns").capitalize(), pick(rng, "keys"), pick(rng, "verbs")
    mark, other = rng.sample(("=", ":", "/", "-"), 2)
    first, after, fallback = rng.random() < 0.5, rng.random() < 0.6, rng.random() < 0.5
    name, find = f"{part}_{'after' if after else 'before'}", "find" if first else "rfind"
    trim = ".trim()" if rng.random() < 0.5 else ""

    def twin_of(
        mark: str = mark,
        first: bool = first,
        after: bool = after,
        keep: bool = False,
        trim: str = trim,
        fallback: bool = fallback,
    ) -> Twin:
        def twin(line: str) -> str:
            place = line.find(mark) if first else line.rfind(mark)
            if place < 0:
                found = line if fallback else ""
            else:
                found = line[place + (not keep) :] if after else line[: place + keep]
            return found.strip() if trim else found

        return twin

    cut = "&self.text[at + 1..]" if after else "&self.text[..at]"
    arm, rest = (
        f"            Some(at) => {cut},",
        "            None => self.text," if fallback else '            None => "",',
    )
    look, head = f"        match self.text.{find}('{mark}') {{", f"    fn {thing}(&self) -> &'a str {{"
    owner, field = f"impl<'a> {noun}<'a> {{", "    text: &'a str,"
    give = f"    {noun} {{ text: line }}.{thing}(){trim}"
    kept = "&self.text[at..]" if after else "&self.text[..at + 1]"
    turned = "&self.text[..at]" if after else "&self.text[at + 1..]"
    trims: list[Change] = (
        [("method", ".trim()", "", twin_of(trim=""))]
        if trim
        else [("method", f"{thing}()", f"{thing}().trim()", twin_of(trim="yes"))]
    )
    side, rank = "after" if after else "before", "first" if first else "last"
    whole = "the whole line" if fallback else "nothing"
    none = (
        ("branch", "self.text", '""', twin_of(fallback=False))
        if fallback
        else ("branch", '""', "self.text", twin_of(fallback=True))
    )
    return Sketch(
        name=name,
        code=lines(
            f"struct {noun}<'a> {{",
            field,
            "}",
            "",
            owner,
            head,
            look,
            arm,
            rest,
            "        }",
            "    }",
            "}",
            "",
            "DOC",
            f"pub fn {name}(line: &str) -> &str {{",
            give,
            "}",
        ),
        doc=f"The part {side} the {rank} {mark}, {whole} without one{', without blanks around it' if trim else ''}.",
        vague=f"The part {side} a {mark}{', without blanks around it' if trim else ''}.",
        task=f"give the part {side} the {rank} {mark}, or {whole}",
        sites=(
            site(
                look,
                ("method", f".{find}(", f".{'rfind' if first else 'find'}(", twin_of(first=not first)),
                ("constant", f"'{mark}'", f"'{other}'", twin_of(mark=other)),
                ("type", f"'{mark}'", "1", None),
                ("type", f".{find}(", ".contains(", None),
            ),
            site(
                arm,
                ("index", cut, kept, twin_of(keep=True)),
                ("branch", cut, turned, twin_of(after=not after)),
                (
                    "branch",
                    cut,
                    "self.text",
                    lambda line: (line.strip() if trim else line) if mark in line or fallback else "",
                ),
                ("borrow", "&", "", None),
                ("type", cut, "at", None),
            ),
            site(rest, none, ("type", "None =>", "Err(_) =>", None)),
            site(field, ("lifetime", "&'a str", "&str", None), ("lifetime", "&'a str", "&'b str", None)),
            site(owner, ("lifetime", "impl<'a>", "impl", None), ("lifetime", f"{noun}<'a>", f"{noun}<'b>", None)),
            site(
                head,
                ("lifetime", "&'a str", "&str", None),
                ("type", "&'a str", "String", None),
                ("lifetime", "&'a str", "&'b str", None),
            ),
            site(give, *trims, ("type", "text: line", "text: &line.len()", None)),
        ),
        twin=twin_of(),
        sample=lambda rng: (_line(rng, mark, other),),
    )


def _line(rng: Random, mark: str, other: str) -> str:
    parts = some(rng, "keys", rng.choice((1, 2, 2, 3, 3)))
    gaps = [rng.choice((mark, mark, f"{mark} ", f" {mark}", other)) for _ in parts]
    return "".join(part + gap for part, gap in zip(parts, gaps, strict=True))[
        : None if rng.random() < 0.2 else -1
    ].strip()


TEMPLATES = (Template("after_mark", "parsing_validation", after_mark),)
