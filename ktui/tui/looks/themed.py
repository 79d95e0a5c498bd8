"""How ktui looks: the theme in Textual's style sheets, whose matches are kept, and pictures of screens."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

from rich.cells import cell_len
from textual.app import App
from textual.cache import LRUCache
from textual.css.model import RuleSet
from textual.css.styles import RulesMap
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.filter import LineFilter, Monochrome
from textual.theme import Theme
from textual.widget import Widget

from ktui.tui.compat import SafeApp
from ktui.tui.looks import themes
from ktui.tui.looks.looks import Looks
from ktui.tui.preferences import Preferences

_ROOT = '<svg class="rich-terminal"'
_CELLS = ("font-size: 20px;", "font-size: 19.825px;")  # Fira Code is 0.6154 em wide, a cell of Rich's 12.2 px
_MARK = r"[!#$%&*+\-./:;<=>?\\^_|~]"  # Fira Code joins neighbours of these into one glyph
_APART = rf"[\u2800-\u28ff▸▾◂▴⊘✕]|{_MARK}(?={_MARK})"  # glyphs that Fira Code lacks, or would join
_GAP = r"\xa0{2,}"  # between columns: the text after it is placed on its own, whatever the font's width
# Compiled when the first picture is taken: `re` keeps them.
_PIECES = f"(?s:{_GAP}|{_APART}|(?:(?!{_GAP}|{_APART}).)+)"
_TEXT = r'(<text [^>]*)x="([\d.]+)"( [^>]*)textLength="([\d.]+)"([^>]*>)([^<]+)</text>'


def portable(svg: str) -> str:
    """Return Rich's SVG of a screen so that it looks the same in every viewer: every text at its own place.

    Rich's SVG relies on browsers. librsvg (Linux desktops, converters) drops spaces at the ends of a text,
    ignores `textLength`, and a character missing in the font shifts all that follow. In browsers too, Fira
    Code joins `!=` and other pairs into one glyph.
    """
    svg = svg.replace(_ROOT, f'{_ROOT} xml:space="preserve"', 1).replace(*_CELLS, 1)
    return re.sub(_TEXT, _set_apart, svg)


def _set_apart(text: re.Match[str]) -> str:
    import html  # start-up time

    head, x, middle, length, tail, escaped = text.groups()
    content = html.unescape(escaped)
    pieces = re.findall(_PIECES, content)
    if len(pieces) == 1:
        return text[0]
    width = float(length) / len(content)  # for Rich a wide character has one cell
    column, elements = 0, []
    for piece in pieces:
        if piece.isspace():  # backgrounds are rectangles, not texts
            column += len(piece)
            continue
        at, wide = float(x) + column * width, cell_len(piece) * width
        elements.append(
            f'{head}x="{at:.10g}"{middle}textLength="{wide:.10g}"{tail}{html.escape(piece)}</text>'
        )
        column += cell_len(piece)
    return "".join(elements)


_SOURCES = 4096  # classes and files, several times what there is
_THEMES = 8
_MOST_KEPT = 20_000  # paths, several times what all screens and dialogs have
# Pseudo-classes that `_part` knows. Others are asked for where a rule has them.
_KNOWN = {"hover", "focus", "blur", "disabled", "enabled", "dark", "light", "inline", "ansi", "nocolor"}
_FLAGS = ("_has_hover_style", "_has_focus_within", "_has_order_style", "_has_odd_or_even")

Parsed = LRUCache[tuple[Any, ...], list[RuleSet]]
Key = tuple[int, int, tuple[bool, ...]]


class RuleCandidates:
    """The rules whose last selector may match, and their pseudo-classes that a path does not hold.

    `asked` are those of last selectors, for the node itself; `asked_above` those of the selectors before,
    for its path.
    """

    def __init__(self, number: int, rules: tuple[RuleSet, ...]) -> None:
        self.number = number
        selectors = [chosen.selectors for rule in rules for chosen in rule.selector_set]
        self.asked = _unknown(chain[-1].pseudo_classes for chain in selectors)
        self.asked_above = _unknown(one.pseudo_classes for chain in selectors for one in chain[:-1])
        self.flags: tuple[bool, ...] = ()  # what Textual notes down on a node with these rules


def _unknown(pseudo_classes: Iterable[set[str]]) -> tuple[str, ...]:
    return tuple(sorted(set().union(*pseudo_classes) - _KNOWN))


class Look:
    """The rules that apply to a node, and what they are once they are set on a new one."""

    def __init__(self) -> None:
        self.rules: RulesMap = {}
        self.set: RulesMap | None = None


class StyleMemory:
    """What style sheets have parsed and found out; all sheets of a process share one."""

    def __init__(self) -> None:
        self._parsed: LRUCache[frozenset[tuple[str, str]], Parsed] = LRUCache(_THEMES)
        self._candidates: dict[tuple[RuleSet, ...], RuleCandidates] = {}
        self._paths: dict[tuple[Any, ...], int] = {}
        self._numbers = count()
        self.looks: dict[Key, Look] = {}
        self.matched: dict[DOMNode, Look] = {}  # nodes whose rules are being matched

    def parsed(self, variables: dict[str, str]) -> Parsed:
        """Rules by their source, under these variables."""
        key = frozenset(variables.items())
        found = self._parsed.get(key)
        if found is None:
            if len(self._parsed) == _THEMES:
                self._forget()  # the rules of the theme that is dropped now are among it
            found = self._parsed[key] = LRUCache(_SOURCES)
        return found

    def candidates(self, rules: tuple[RuleSet, ...]) -> RuleCandidates:
        """The same object for the same rules."""
        found = self._candidates.get(rules)
        if found is None:
            found = self._candidates[rules] = RuleCandidates(next(self._numbers), rules)
        return found

    def path(self, above: int, node: DOMNode) -> int:
        """A number for a path, by that of the path to the node's parent."""
        key = (above, *_part(node))
        found = self._paths.get(key)
        if found is None:
            if len(self._paths) > _MOST_KEPT:
                self._forget()
            found = self._paths[key] = next(self._numbers)
        return found

    def _forget(self) -> None:
        for kept in (self._candidates, self._paths, self.looks):
            kept.clear()  # their numbers are not used again


def _part(node: DOMNode) -> tuple[Any, ...]:
    """What a selector may ask of one node."""
    if isinstance(node, Widget):
        state: tuple[object, ...] = (node.mouse_hover, node.has_focus, node.disabled)
    elif isinstance(node, App):
        dark = node.current_theme.dark
        state = (node.app_focus, dark, node.is_inline, node.native_ansi_color, node.no_color)
    else:
        state = ()
    return type(node), node.id, node.classes, state


def _asked(node: DOMNode, candidates: RuleCandidates) -> tuple[bool, ...]:
    """Which of the pseudo-classes that rules may ask for the node has, and which the nodes on its path."""
    own = tuple(node.has_pseudo_class(name) for name in candidates.asked)
    if not candidates.asked_above:
        return own
    path = node.css_path_nodes  # with the node: `Parts:even.one` are two selectors for it
    return own + tuple(above.has_pseudo_class(name) for above in path for name in candidates.asked_above)


_memory = StyleMemory()


class KeptStylesheet(Stylesheet):
    """Works out once what a widget looks like: keeps what was matched, and parsed until the colours change.

    Textual matches all rules against a widget, and each of its component classes, whenever one of its
    ancestors changes a class, when its screen is shown again and when a further style sheet is loaded.
    What comes out depends on the rules that may match and on the path from the app down to the widget:
    types, ids, classes and pseudo-classes. So it is kept by these. With `compat` this is where Textual's
    private API is used.
    """

    def __init__(self, *, variables: dict[str, str] | None = None) -> None:
        super().__init__(variables=variables)
        self._parse_cache = _memory.parsed(self._variables)
        self._by_names: dict[frozenset[str], RuleCandidates] = {}
        self._applied: WeakKeyDictionary[DOMNode, Key] = WeakKeyDictionary()  # with its component classes
        self._paths: dict[Any, Any] | None = None  # of a node whose component classes are being styled

    # Parsing.

    def set_variables(self, variables: dict[str, str]) -> None:
        if variables != self._variables:
            self._parse_cache = LRUCache(0)  # Textual clears it
            super().set_variables(variables)
            self._parse_cache = _memory.parsed(variables)

    def reparse(self) -> None:
        """Parse what is new: a source of another text counts as another source."""
        self.parse()

    def parse(self) -> None:
        before = self._rules
        super().parse()
        if self._rules != before:
            self._by_names.clear()

    # Matching.

    def apply(
        self, node: DOMNode, *, animate: bool = False, cache: dict[tuple[Any, ...], RulesMap] | None = None
    ) -> None:
        """Textual's, by what is known. `cache` is for one round: the paths of parents are kept in it."""
        paths: dict[Any, Any] = cache if cache is not None else self._paths if self._paths is not None else {}
        names, components = node._selector_names, node._get_component_classes()
        candidates, path = self._candidates_of(names), self._path_of(node, paths)
        key = whole = (candidates.number, path, _asked(node, candidates))
        if components:  # their rules may ask more than the node's own
            of_all = self._candidates_of(names.union(f".{name}" for name in components))
            whole = (of_all.number, path, _asked(node, of_all))
        if self._applied.get(node) == whole and (node._component_styles or not components):
            if not animate:
                node.notify_style_update()
            return
        look = _memory.looks.get(key)
        new = not node._is_mounted and not node.styles.base._rules
        outer, self._paths = self._paths, paths
        if look is None:
            look = _memory.matched[node] = Look()
            super().apply(node, animate=animate)
            _memory.matched.pop(node, None)
            candidates.flags = tuple(getattr(node, name) for name in _FLAGS)
            _memory.looks[key] = look
            if new:
                look.set = node.styles.base._rules.copy()
        else:
            for name, holds in zip(_FLAGS, candidates.flags, strict=True):
                setattr(node, name, holds)
            if new and look.set is not None:
                self._set_all(node, look.set)
            elif look.rules:
                self.replace_rules(node, look.rules, animate=animate)
            self._process_component_classes(node)
        self._paths = outer
        self._applied[node] = whole

    @classmethod
    def replace_rules(cls, node: DOMNode, rules: RulesMap, animate: bool = False) -> None:
        """Textual's, for the rules that differ."""
        if look := _memory.matched.pop(node, None):
            look.rules = rules
        base = node.styles.base
        if base._rules == rules:
            if not animate:
                node.notify_style_update()
        elif animate and "transitions" in rules:
            super().replace_rules(node, rules, animate=animate)
        else:
            for name in base._rules.keys() | rules.keys():
                value = rules.get(name)
                if base._rules.get(name) != value:
                    setattr(base, name, value)
            node.notify_style_update()

    @staticmethod
    def _set_all(node: DOMNode, rules: RulesMap) -> None:
        """On a node that is not on any screen yet: there is nothing to be laid out or painted."""
        base = node.styles.base
        base._rules.update(rules)
        base._updates += 1
        node._nodes.updated()
        node.notify_style_update()

    def _candidates_of(self, selector_names: set[str]) -> RuleCandidates:
        rules = self.rules  # parses what is new
        names = frozenset(self.rules_map.keys() & selector_names)
        found = self._by_names.get(names)
        if found is None:
            may_match = {id(rule) for name in names for rule in self.rules_map[name]}
            chosen = tuple(rule for rule in rules if id(rule) in may_match)
            found = self._by_names[names] = _memory.candidates(chosen)
        return found

    def _path_of(self, node: DOMNode, paths: dict[Any, Any]) -> int:
        parent = node._parent
        above = -1
        if isinstance(parent, DOMNode):
            above = paths.get(parent, -1)
            if above < 0:
                above = paths[parent] = self._path_of(parent, paths)
        return _memory.path(above, node)


class ThemedApp(SafeApp):
    """An app with ktui's themes and the user's; it notifies of those it cannot use."""

    _themes: dict[str, Theme] | None = None  # what `available_themes` returned
    _of_theme: tuple[Theme, dict[str, str]] | None = None  # the last theme's variables

    def __init__(self, preferences: Preferences) -> None:
        super().__init__()
        self.looks = Looks(preferences, os.environ)
        self.looks.register(self, preferences.theme)
        self.stylesheet = KeptStylesheet(variables=self.get_css_variables())

    # Textual asks for the themes hundreds of times until the first frame, and for the variables four times.

    @property
    def available_themes(self) -> dict[str, Theme]:
        if self._themes is None:
            self._themes = super().available_themes
        return self._themes

    def register_theme(self, theme: Theme) -> None:
        self._themes = None
        super().register_theme(theme)

    def unregister_theme(self, theme_name: str) -> None:
        self._themes = None
        super().unregister_theme(theme_name)

    def get_css_variables(self) -> dict[str, str]:
        theme = self.current_theme
        if self._of_theme is None or self._of_theme[0] is not theme:
            self._of_theme = theme, super().get_css_variables()
        self.theme_variables = self._of_theme[1]
        return self.theme_variables

    @property
    def own_themes(self) -> list[Theme]:
        """ktui's themes and the user's, without Textual's."""
        return list(self.looks.found.by_name.values())

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.default_variables()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the filters of painted lines, without Textual's Monochrome, which leaves greys."""
        inherited = (item for item in super().get_line_filters() if not isinstance(item, Monochrome))
        return [*inherited, *self.looks.filters]

    def export_screenshot(self, *, title: str | None = None, simplify: bool = False) -> str:
        """Return the screen as an SVG that looks the same in every viewer."""
        return portable(super().export_screenshot(title=title, simplify=simplify))

    def on_mount(self) -> None:
        self.watch_theme()
        self._report_skipped(self.looks.problems)

    def watch_theme(self) -> None:
        self.looks.plain.follow_theme(self.theme_variables)

    def reload_themes(self) -> None:
        self._report_skipped(self.looks.reload(self))

    def _report_skipped(self, problems: Iterable[str]) -> None:
        for problem in problems:
            self.notify(problem, title="theme skipped", severity="warning")
