/**
 * Finds deterministic signs of tool poisoning in a text. Each expression has bounded gaps: none backtracks without
 * bound. A sign is no proof; alone it ranks a change.
 *
 * Spec: drift-fairness-mcp.md 4.3; decision 0072.
 */

import { mcpSignals as signalRules } from "@flyball/evidence/words"

export { signalRules }

/** One of {@link signalRules}. */
export type SignalRule = (typeof signalRules)[number]

/** A signal in a text. `start` and `end` (exclusive) count code points. */
export interface Signal {
  readonly rule: SignalRule
  /** JSON pointer into the tool. */
  readonly path: string
  readonly start: number
  readonly end: number
}

/** Longest text that is searched. What is longer is searched to here. Unit: UTF-16 code units. */
const MAX_SEARCHED = 100_000
/** Most signals of one rule in a text. */
const MAX_EACH = 3

const GAP = "[^.!?]{0,60}?"
const NOT = "(?:do not|don['\u2019]t|never|must not|should not|shouldn['\u2019]t|without|avoid)"

/** Any of these expressions. */
const any = (...parts: ReadonlyArray<string>): RegExp => new RegExp(parts.join("|"), "giu")

const expressions: ReadonlyArray<readonly [SignalRule, RegExp]> = [
  [
    "pseudo_tag",
    any(
      "<[ /]{0,2}(?:important|hidden|system|secret|instructions?|admin|critical|override|sidenote|assistant|private)" +
        "[^<>\\n]{0,40}>",
      "<!-{2}",
      "\\[\\/?(?:inst|system|important|hidden)\\]"
    )
  ],
  [
    "conceal",
    any(
      `\\b${NOT}\\b(?:[^.!?]{0,24}?\\b)?` +
        "(?:mention|mentioning|tell|telling|inform|informing|notify|reveal|disclos\\w{1,4}|alert)\\b",
      `\\b(?:silently|secretly|covertly|quietly)\\b${GAP}\\b(?:send|read|copy|include|forward|upload|add|collect)\\b`
    )
  ],
  [
    "secret_path",
    any(
      "(?:~|\\/root|\\/home\\/[\\w.-]{1,32}|\\$HOME)?" +
        "\\/\\.(?:ssh|aws|cursor|gnupg|kube|docker|npmrc|netrc|config\\/gcloud)\\b",
      "\\bid_(?:rsa|ed25519|ecdsa)\\b",
      "\\/etc\\/(?:passwd|shadow|sudoers)\\b",
      "\\b(?:system|internal|company|confidential|secret)s?:\\/\\/[\\w./-]{1,80}",
      "(?:^|[\\s\"'`(/*])\\.env\\b",
      "\\bmcp\\.json\\b",
      "\\*\\.(?:pem|key)\\b"
    )
  ],
  [
    "precondition",
    any(
      "\\b(?:call|use|run|invoke|execute) this(?: tool| function)?(?: first)?\\b" +
        `${GAP}\\bbefore\\b${GAP}\\b(?:any|all|every|each|other)\\b`,
      "\\b(?:before|when|whenever|prior to|if)\\b[^.!?<>]{0,100}?\\b(?:this|any|other|the query)\\b[^.!?<>]{0,100}?" +
        "\\b(?:you )?must\\b[^.!?]{0,24}?\\b(?:first|access|read|include|call|send)\\b",
      "\\bbefore (?:using|calling|invoking|running|providing) (?:this|any|other|another)\\b" +
        "[^.!?]{0,40}?,[^.!?]{0,24}?\\b(?:read|access|fetch|send|include|call)\\b",
      "\\botherwise (?:the|this) tool (?:will|does|won|can)\\b"
    )
  ],
  [
    "redirect",
    any(
      "\\b(?:send|sent|forward|forwarded|uploads?|post|bcc|cc|deliver|email|recipient|route|exfiltrate|curl)\\b" +
        "[^\\n]{0,80}?" +
        "(?:https?:\\/\\/[\\w.-]{1,100}|[\\w.+-]{1,64}@[\\w-]{1,63}\\.[a-z]{2,24}|\\+\\d{8,15})"
    )
  ],
  [
    "override",
    any(
      "\\b(?:ignore|disregard|forget|override|bypass|supersede)s?\\b" +
        "[^.!?\\n]{0,24}?\\b(?:previous|prior|above|earlier|existing|all other|system|safety)\\b" +
        "[^.!?\\n]{0,24}?\\b(?:instructions?|rules?|prompts?|guidelines?|polic(?:y|ies)|messages?)\\b"
    )
  ],
  // Format and control characters, tags and bidirectional overrides. Joiners belong into emoji and some scripts.
  [
    "hidden_characters",
    any(
      "(?![\\n\\t\\r\\u200c\\u200d])[\\p{Cc}\\p{Cf}]",
      "(?<![\\p{Extended_Pictographic}\\ufe0f\\p{Emoji_Modifier}]|(?!\\p{Script=Latin})[\\p{L}\\p{M}])[\\u200c\\u200d]",
      "[\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}]{2,}"
    )
  ],
  ["padding", /[^\S\n\r]{41,}|(?:[^\S\n\r]{0,8}[\n\r]){12,}/gu]
]

/**
 * Finds the signals of a text that touch what is new in it: from `from` to `to`, in UTF-16 code units. At most three of
 * a rule.
 */
export const signalsIn = (path: string, text: string, from = 0, to: number = text.length): ReadonlyArray<Signal> => {
  const searched = text.slice(0, MAX_SEARCHED)
  return expressions.flatMap(([rule, expression]) => {
    const found: Array<Signal> = []
    for (const match of searched.matchAll(expression)) {
      if (found.length === MAX_EACH) break
      const end = match.index + match[0].length
      if (match.index < to && end > from)
        found.push({ rule, path, start: codePoints(text, match.index), end: codePoints(text, end) })
    }
    return found
  })
}

/** Code points before a place. */
const codePoints = (text: string, to: number): number => {
  let count = 0
  for (let at = 0; at < to; at++) if ((text.charCodeAt(at) & 0xfc00) !== 0xdc00) count++
  return count
}

/**
 * A text as it is shown: characters that a reader does not see, or that steer a terminal, as `\u{…}`. Neither a console
 * nor a model that reads it is hit by them.
 */
export const shownText = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu, (one) =>
    one === "\n" || one === "\t" ? one : `\\u{${one.codePointAt(0)!.toString(16)}}`
  )
