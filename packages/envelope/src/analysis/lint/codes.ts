/** The level of a finding: an error blocks publication, a warning does not, and an info is something to know. */
export type LintLevel = "error" | "warning" | "info"

/**
 * Codes of findings, each with its default level and its meaning. Codes that reading and
 * compiling give are in `findings.ts`.
 *
 * `hasExample`: whether an input can show it.
 *
 * - Spec: exact analysis of envelopes, the lint catalogue; `SPEC.md` section 14; decision 0022 says how each is
 *   decided.
 */
export const lintCodes = {
  E101: { level: "error", hasExample: false, title: "The rule holds nowhere." },
  E102: {
    level: "error",
    hasExample: true,
    title: "The rule decides nothing: other rules, alone or together, always decide in its place."
  },
  E104: {
    level: "error",
    hasExample: true,
    title: "A higher tier is more restrictive than the tier below it, on the same input."
  },
  E107: {
    level: "error",
    hasExample: true,
    title: "The rule would loosen what an outer layer says, and so decides nothing."
  },
  E108: { level: "error", hasExample: true, title: "Nobody may give the review that the rule asks for." },
  E110: { level: "error", hasExample: false, title: "The analysis was not finished within its budget." },
  E111: {
    level: "error",
    hasExample: true,
    title: "The version allows something new and lacks a second approver or a backtest."
  },
  W201: { level: "warning", hasExample: true, title: "No rule of the envelope holds, so its default decides." },
  W202: { level: "warning", hasExample: true, title: "The rule can go: no outcome would change." },
  W203: { level: "info", hasExample: true, title: "The rule decides over less restrictive rules where they overlap." },
  W204: {
    level: "warning",
    hasExample: true,
    title: "Two neighbouring rules leave out one value between them, or share one."
  },
  W205: { level: "warning", hasExample: true, title: "One rule decides nearly all of history." },
  W206: { level: "warning", hasExample: true, title: "The rule held for nothing in history." },
  W207: { level: "warning", hasExample: true, title: "A side effect is permitted on what the caller says alone." },
  W208: { level: "warning", hasExample: true, title: "The envelope permits something outside the blast radius." },
  W209: { level: "warning", hasExample: true, title: "A tool with a side effect is permitted and no meter counts it." },
  W210: { level: "warning", hasExample: false, title: "More reviews are to be expected than reviewers can handle." },
  W211: { level: "warning", hasExample: true, title: "A tool was seen that the envelope does not know." },
  W212: {
    level: "warning",
    hasExample: false,
    title: "An agent at a high tier has no armed breaker, or no attested drill that counts."
  },
  W213: { level: "warning", hasExample: true, title: "The rule decides nothing at the tier of the agent." },
  W214: { level: "warning", hasExample: false, title: "Nothing is decided without the service, though it is offered." },
  W215: { level: "warning", hasExample: true, title: "An action is permitted where a text is unreadable." },
  W216: { level: "warning", hasExample: true, title: "A rule bounds a text only by what it must not be." },
  W217: {
    level: "warning",
    hasExample: false,
    title: "A text without a form is bounded as if it were a path or a URL."
  }
} as const satisfies Record<string, { readonly level: LintLevel; readonly hasExample: boolean; readonly title: string }>

/** A code of {@link lintCodes}. Spec: `envelope/1` section 14. */
export type LintCode = keyof typeof lintCodes

/** End of the message of a finding that cannot have an example input. Spec: `SPEC.md` section 14. */
export const NO_INPUT = "No input shows this."

/** End of the message of a finding for which no example input was found. */
export const NONE_FOUND = "No input that shows this was found."

/** The message of a finding without an example. */
export const withoutExample = (code: LintCode, message: string): string =>
  `${message} ${lintCodes[code].hasExample ? NONE_FOUND : NO_INPUT}`
