/** Bounds of an envelope, with what each is for. Spec: `SPEC.md` section 2. */

/**
 * Least and greatest integer anywhere in an envelope or a signal: one inside what JavaScript holds exactly, so that
 * absence has a point below.
 */
export const MAX_INT = 2 ** 53 - 2

/** Lowest integer of the language. */
export const MIN_INT = -MAX_INT

/** Most bytes of an envelope in RFC 8785 form: the room of a part beside one record. Spec: `envelope/1` section 2. */
export const MAX_ENVELOPE_BYTES = 262_144
/** Most levels of nested containers; each level of conditions takes two. Spec: `envelope/1` section 2. */
export const MAX_ENVELOPE_DEPTH = 32
/** Conditions nested in each other. */
export const MAX_CONDITION_DEPTH = 8

/** Most signals of an envelope. */
export const MAX_SIGNALS = 64
/** Members of an enum: a bitset of at most nine words. */
export const MAX_VALUES = 256

/** Most derived signals of an envelope. */
export const MAX_DERIVED = 16

/** Most arguments of a derived signal. */
export const MAX_ARGS = 8

/** Most meters of an envelope. */
export const MAX_METERS = 16

/** Most members of a meter's key. */
export const MAX_KEY = 4

/** Most params of an envelope. */
export const MAX_PARAMS = 128

/** Most rules of an envelope. */
export const MAX_RULES = 500
/** Conditions in one list. */
export const MAX_CONDITIONS = 64

/** Most obligations of a rule. */
export const MAX_OBLIGATIONS = 8
/** Texts in one obligation. */
export const MAX_LISTED = 32

/** Boxes of one rule. */
export const MAX_BOXES = 64
/** Boxes while a rule is being expanded; later conditions often empty most of them. */
export const MAX_WORKING_BOXES = 512

/** Layers of a combination, the tier floor included. */
export const MAX_LAYERS = 16

/** Axes of a combination: what seven binary digits count. One envelope has 96 at most. */
export const MAX_AXES = 127

/** Longest name. Unit: characters. */
export const MAX_NAME = 64

/** Longest text value. Unit: characters. */
export const MAX_VALUE_TEXT = 128

/** Longest name of a tool, a tool server, an action or a model. Unit: code points. Spec: format 1 section 8. */
export const MAX_FOREIGN_NAME = 200

/** Longest text constant: a name of code points outside the basic plane. Unit: UTF-16 code units. */
export const MAX_CONSTANT_TEXT = 2 * MAX_FOREIGN_NAME

/** Longest JSON pointer into arguments. Unit: UTF-16 code units. */
export const MAX_POINTER = 256

/** Elements of a list in arguments that are decided; with more no element is. */
export const MAX_ELEMENTS = 256

/** Longest value of a text signal: a path of Linux. Unit: code points. */
export const MAX_TEXT = 4096

/** Most constants of one text signal in all layers: prefixes and roots, suffixes, lengths, equal texts. */
export const MAX_TEXT_CONSTANTS = { prefixes: 64, suffixes: 64, cuts: 8, equals: 256 } as const

/** Most code points of these constants: a letter stays free in every form. */
export const MAX_CONSTANT_CODE_POINTS = 8192

/** Most cells of a text signal: 64 words a range. */
export const MAX_TEXT_CELLS = 2048

/** Longest reason or suggestion. Unit: characters. */
export const MAX_SENTENCE = 500

/**
 * A meter's longest window. Unit: milliseconds. A verifier reads a year of evaluations anyway. Spec: `envelope/1`
 * section 6.
 */
export const MAX_WINDOW_MS = 366 * 86_400_000
/** Contributions one window may hold, where the meter does not say. */
export const DEFAULT_MAX_COUNT = 100_000

/** Highest `max_count` of a meter. */
export const MAX_COUNT = 10_000_000
/** Longest time any obligation names. */
export const MAX_DURATION_MS = 366 * 86_400_000

/** Highest number of approvals that an obligation can require. */
export const MAX_APPROVALS = 10

/** Time to witness a notice, where no rule says. */
export const DEFAULT_NOTICE_MS = 60_000

/** Cases of one file of tests, and actions before one of them. */
export const MAX_CASES = 1_000

/** Findings of one reading; more would help nobody. */
export const MAX_FINDINGS = 200
