"""Rewrites preprocessed CUDA into C++ for the emulator: launches, and the words before functions and variables.

The preprocessor has expanded macros and left line markers, so every launch is plain text, and the compiler names
the user's own lines. Text of system headers passes unread.
"""

import re

MARKER = re.compile(r'# (\d+) "((?:[^"\\]|\\.)*)"((?: \d)*)$')
TOKEN = re.compile(
    r'(?P<space>\s+)'
    r'|(?P<string>(?:u8|[uUL])?R"(?P<mark>[^()\\ ]*)\(.*?\)(?P=mark)"|(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"'
    r"|(?:u8|[uUL])?'(?:[^'\\\n]|\\.)*')"
    r'|(?P<name>[A-Za-z_$]\w*)'
    r"|(?P<number>\.?\d(?:[eEpP][+-]|[\w.']|)*)"
    r'|(?P<sign><<<|>>>|::|->|[\s\S])', re.DOTALL)

WORDS = {"__global__": "", "__host__": "", "__noinline__": "__attribute__((noinline))"}
NOT_EMULATED = [
    (re.compile(r"tex[123]D\w*|texture(?=<)|cudaTextureObject_t|cudaBindTexture\w*"), "textures"),
    (re.compile(r"surf[123]D\w*|cudaSurfaceObject_t"), "surfaces"),
    (re.compile(r"cudaGraph\w*"), "graphs"),
    (re.compile(r"wmma(?=::)"), "tensor cores (wmma)"),
    (re.compile(r"cublas\w+"), "cuBLAS"),
    (re.compile(r"thrust(?=::)"), "Thrust"),
    (re.compile(r"asm|__asm__"), "inline PTX"),
    (re.compile(r"__cluster_dims__"), "clusters"),
]
HEADERS_NOT_EMULATED = [
    (re.compile(r"cublas\w*\.h"), "cuBLAS"),
    (re.compile(r"thrust/.*"), "Thrust"),
    (re.compile(r"cub/.*"), "CUB"),
    (re.compile(r"curand\w*\.h"), "cuRAND"),
    (re.compile(r"cu(fft|sparse|solver|dnn)\w*\.h"), "this library"),
    (re.compile(r"mma\.h"), "tensor cores (wmma)"),
    (re.compile(r"cuda_(fp16|bf16|fp8)\.h(pp)?"), "arithmetic of less than 32 bits"),
    (re.compile(r"(cuda/|nv/).*"), "libcu++"),
    (re.compile(r"cooperative_groups/(memcpy_async|scan)\.h"), "this part of cooperative groups"),
    (re.compile(r"(cuda_texture_types|texture_\w+_functions)\.h"), "textures"),
    (re.compile(r"(cuda_surface_types|surface_\w+_functions)\.h"), "surfaces"),
    (re.compile(r"cuda_gl_interop\.h"), "OpenGL"),
]
UNKNOWN_NAME = re.compile(r"([‘'](?:cuda?[A-Z]|__)\w+[’'] was not declared in this scope)")
MISSING_HEADER = re.compile(r"(\S+?:\d+)(?::\d+)?: fatal error: (\S+): No such file or directory")


class NotEmulated(Exception):
    """The message names file and line."""


def not_emulated(place, name, what):
    return f"{place}: error: '{name}': {what} is not emulated; see docs/emulator.md"


def explain(messages):
    """What the compiler says, with a word about what of CUDA is missing on purpose."""
    for found in MISSING_HEADER.finditer(messages):
        for pattern, what in HEADERS_NOT_EMULATED:
            if pattern.fullmatch(found[2]):
                return not_emulated(found[1], found[2], what) + "\n"
    return UNKNOWN_NAME.sub(r"\1; if it is CUDA's, it is not emulated: see docs/emulator.md", messages)


class Token:
    def __init__(self, kind, text, file, line):
        self.kind, self.text, self.file, self.line = kind, text, file, line
        self.after = ""  # what stands behind it from now on

    def fail(self, what):
        raise NotEmulated(not_emulated(f"{self.file}:{self.line}", self.text, what))


def read(text):
    """Tokens; text of system headers and line markers are tokens of kind 'kept'."""
    tokens, file, line, system, part, own = [], "", 1, True, [], set()

    def flush():
        nonlocal line
        chunk = "".join(part)
        part.clear()
        if system:
            tokens.append(Token("kept", chunk, file, line))
            return
        at = line
        for match in TOKEN.finditer(chunk):
            tokens.append(Token(match.lastgroup if match.lastgroup != "mark" else "string", match.group(), file, at))
            at += match.group().count("\n")

    for row in text.splitlines(keepends=True):
        marker = MARKER.match(row.rstrip("\n"))
        if not marker and not row.startswith("#pragma"):
            part.append(row)
            continue
        if not marker:
            flush()
            line += 1  # of the pragma itself; a marker follows where lines jump
            tokens.append(Token("kept", row, file, line))
            continue
        if "1" in marker[3].split() and not system:
            # A header that this machine has: CUDA is installed.
            for pattern, what in HEADERS_NOT_EMULATED:
                if header := re.search(f"(?:^|/)({pattern.pattern})$", marker[2]):
                    place = f"{file}:{line + ''.join(part).count(chr(10))}"
                    raise NotEmulated(not_emulated(place, header[1], what))
        flush()
        tokens.append(Token("kept", row, file, line))
        line, file = int(marker[1]), marker[2]
        # A macro of a system header, where it is used, is marked as that header is.
        if "3" not in marker[3].split() and not file.startswith("<"):
            own.add(file)
        system = file not in own
    flush()
    return tokens


class Source:
    def __init__(self, text):
        self.tokens = read(text)
        self.code = [i for i, token in enumerate(self.tokens) if token.kind not in ("space", "kept")]
        self.gaps = 0

    def at(self, place):
        return self.tokens[self.code[place]]

    def text(self, place):
        return self.at(place).text if 0 <= place < len(self.code) else ""

    def find(self, place, signs):
        """The first of the signs at or behind `place`, brackets passed over."""
        begin = self.at(place)
        while place < len(self.code):
            if self.text(place) in signs:
                return place
            place = self.matching(place, 1) + 1 if self.text(place) in ("(", "{", "[") else place + 1
        raise NotEmulated(f"{begin.file}:{begin.line}: error: no {' or '.join(signs)} follows")

    def matching(self, place, step):
        """The bracket that belongs to the one at `place`, forward or backward."""
        pairs = {"(": ")", "[": "]", "{": "}", "<": ">"}
        if step < 0:
            pairs = {closing: opening for opening, closing in pairs.items()}
        begin = self.at(place)
        opening, closing, depth = begin.text, pairs[begin.text], 0
        while 0 <= place < len(self.code):
            depth += {opening: 1, closing: -1}.get(self.text(place), 0)
            if depth == 0:
                return place
            place += step
        raise NotEmulated(f"{begin.file}:{begin.line}: error: the other bracket of '{opening}' is missing")

    def start_of_kernel(self, place):
        """Where the expression begins that ends before the <<< at `place`."""
        place -= 1
        while True:
            while self.text(place) in (">", ")", "]"):
                place = self.matching(place, -1) - 1
            if self.at(place).kind != "name":
                return place + 1
            if self.text(place - 1) == "template":
                place -= 1
            if self.text(place - 1) not in ("::", ".", "->"):
                return place
            place -= 2
            if self.at(place).kind != "name" and self.text(place) not in (">", ")", "]"):
                return place + 1

    def rewrite_launch(self, place):
        begin = self.start_of_kernel(place)
        end = self.find(place, (">>>",))
        first = self.code[begin]
        kernel = "".join(token.text for token in self.tokens[first:self.code[place]] if token.kind != "kept")
        kernel = " ".join(kernel.split())
        quoted = kernel.replace("\\", "\\\\").replace('"', '\\"')
        # The launch has one line, its first: __LINE__ is gone by now.
        site = f'{{__builtin_FILE(), {self.at(begin).line}}}'
        address = f"[=](auto warpline_f) -> decltype(warpline_f({kernel})) {{ return warpline_f({kernel}); }}"
        self.at(begin).text = (f'::warpline::cuda::kernel("{quoted}", {site}, {address}, '
                               '[=](const auto&... warpline_a) { ' + self.at(begin).text)
        self.at(place).text = "(warpline_a...); })("
        self.at(end).text = ")"
        for i in range(end + 1, self.matching(end + 1, 1)):
            if self.text(i) == "__null":
                self.at(i).text = "nullptr"

    def declaration(self, place):
        """Places of the words around `place` up to what ends the specifiers."""
        begin = place
        while begin > 0 and self.text(begin - 1) not in (";", "{", "}", ")", ":", ">"):
            begin -= 1
        return begin

    def end_of_declarator(self, place):
        """Of the function or variable whose specifiers are at `place`: what follows its name."""
        while self.text(place) not in ("(", "{", ";", "=", "[", "operator", ""):
            place += 1
            if self.text(place) in ("__attribute__", "alignas", "decltype", "__declspec"):
                place = self.matching(place + 1, 1) + 1
        return place

    def rewrite_device(self, place):
        end = self.end_of_declarator(place)
        if self.text(end) not in ("{", ";", "=", "["):  # a function
            self.at(place).text = ""
            return
        specifiers = [self.text(i) for i in range(self.declaration(place), end)]
        constant = "constexpr" in specifiers or ("const" in specifiers and "*" not in specifiers)
        if constant:
            self.at(place).text = ""
            return
        # Memory of the device, which the checks find by its section. A gap follows, so that they see what goes past
        # the end; the compiler keeps the order.
        self.at(place).text = '__attribute__((section("warpline_device")))'
        self.gaps += 1
        self.at(self.find(end, (";",))).after = (f' static char warpline_gap_{self.gaps}[64] '
                                                 '__attribute__((section("warpline_device"), used));')

    def visit_kernels(self):
        """A launch in the body of a function of the device is dynamic parallelism."""
        for place in range(len(self.code)):
            if self.text(place) not in ("__global__", "__device__"):
                continue
            end = self.end_of_declarator(place)
            if self.text(end) != "(":
                continue
            end = self.find(self.matching(end, 1) + 1, ("{", ";"))
            if self.text(end) != "{":
                continue
            for inside in range(end, self.matching(end, 1)):
                if self.text(inside) == "<<<":
                    self.at(inside).fail("a launch by a kernel (dynamic parallelism)")

    def rewrite_dynamic_shared(self, begin, place):
        """`extern T name[][4], ...;` becomes `T (*name)[4] = ...;`: in a template no other name can be given to it."""
        for i in range(begin, place + 2):
            if self.text(i) == "extern":
                self.at(i).text = ""
        while self.text(place) != ";":
            bracket = self.find(place + 1, ("[",))
            name = self.at(bracket - 1)
            for i in range(bracket, self.matching(bracket, 1) + 1):
                self.at(i).text = ""
            place = self.find(bracket, (";", ","))
            self.at(place - 1).after = f" = reinterpret_cast<decltype({name.text})>(::warpline::emu::warpline_dynamic_shared)"
            name.text = f"(*{name.text})"

    def is_in_a_function(self, place):
        """Is it a declaration in a body, of a function or of a statement?"""
        depth = 0
        while place > 0:
            place -= 1
            depth += {"{": 1, "}": -1}.get(self.text(place), 0)
            if depth == 1:
                if self.text(place - 1) in (")", "else", "do", "const", "noexcept"):
                    return True
                depth = 0
        return False

    def rewrite_shared(self, place):
        begin = self.declaration(place)
        before = [self.text(i) for i in range(begin, place + 2)]
        if "extern" not in before:
            self.at(place).text = "thread_local" if "static" in before else "static thread_local"
            return
        # All such arrays are one memory, which the block owns.
        self.at(place).text = ""
        if self.is_in_a_function(place):
            self.rewrite_dynamic_shared(begin, place)
            return
        for i in range(begin, place + 2):
            if self.text(i) == "extern":
                self.at(i).text = "extern __thread"
        while True:
            place = self.find(place + 1, (";", ","))
            last = self.text(place) == ";"
            self.at(place).text = ' __asm__("warpline_dynamic_shared")' + self.text(place)
            if last:
                return

    def rewrite(self):
        self.visit_kernels()
        for place in range(len(self.code)):
            token = self.at(place)
            if token.text == "<<<":
                self.rewrite_launch(place)
            if token.kind != "name":
                continue
            for pattern, what in NOT_EMULATED:
                if (found := pattern.match(token.text + self.text(place + 1))) and found.end() == len(token.text):
                    token.fail(what)
            if token.text in WORDS:
                token.text = WORDS[token.text]
            elif token.text == "__forceinline__":
                words = {self.text(i) for i in range(self.declaration(place), place + 6)}
                token.text = "__attribute__((always_inline))" + ("" if words & {"inline", "__inline__"} else " inline")
            elif token.text == "__shared__":
                self.rewrite_shared(place)
            elif token.text in ("__device__", "__managed__", "__constant__"):
                self.rewrite_device(place)
        return "".join(token.text + token.after for token in self.tokens)


def rewrite(text):
    return Source(text).rewrite()
