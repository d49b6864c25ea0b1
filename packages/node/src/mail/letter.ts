/**
 * A letter as it goes over the wire: RFC 5322 with a plain text in UTF-8.
 *
 * What others wrote cannot become a header: every value is checked or encoded here, and the text is base64, so that no
 * line of it means anything to a server.
 */
import { isMailAddress, type Mail } from "@flyball/core"
import { utf8 } from "@flyball/evidence"

/** Unit: bytes of UTF-8 in one encoded word; 45 become 60 characters of base64. */
const WORD_BYTES = 45
const PRINTABLE = /^[\x20-\x7e]*$/
/** Unit: characters. A longer subject is encoded, since only encoded words can be folded anywhere. */
const PLAIN_SUBJECT_CHARACTERS = 60

/** Describes the problem with an address in one sentence that does not show it; null if there is none. */
export const addressProblem = (address: string): string | null =>
  isMailAddress(address)
    ? null
    : "an e-mail address such as owner@example.com is expected, in ASCII and without a name beside it"

/**
 * Writes the letter, lines ended by CR LF, the last one too.
 *
 * - Fails: a sentence when the address or the message id cannot stand in a header. The subject and the text may be
 *   anything.
 */
export const writeLetter = (
  mail: Mail,
  from: { readonly name: string | null; readonly address: string },
  atMs: number
): string => {
  const to = addressProblem(mail.to)
  if (to !== null) throw new LetterRefused(to)
  const id = /^<?([A-Za-z0-9._-]{1,128})(@[A-Za-z0-9.-]{1,128})?>?$/.exec(mail.messageId)
  if (id === null) throw new LetterRefused("a message id of letters, digits, dots, dashes and underscores is expected")
  const text = Buffer.from(utf8(mail.text.replace(/\r\n|\r|\n/g, "\r\n").toWellFormed())).toString("base64")
  return [
    `Date: ${new Date(atMs).toUTCString().replace("GMT", "+0000")}`,
    `From: ${from.name === null ? from.address : `${encoded(from.name)} <${from.address}>`}`,
    `To: ${mail.to}`,
    `Message-ID: <${id[1]}${id[2] ?? from.address.slice(from.address.indexOf("@"))}>`,
    `Subject: ${subjectOf(mail.subject)}`,
    // Nobody's holiday notice should answer a program.
    "Auto-Submitted: auto-generated",
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: base64",
    "",
    ...(text.match(/.{1,76}/g) ?? []),
    ""
  ].join("\r\n")
}

/** A letter that no server would be shown. */
export class LetterRefused extends Error {}

const subjectOf = (subject: string): string => {
  // Encoded, a line end would be no header either, but some readers of mail show it as one.
  const line = subject
    .toWellFormed()
    .replace(/\p{Cc}+/gu, " ")
    .trim()
  return PRINTABLE.test(line) && line.length <= PLAIN_SUBJECT_CHARACTERS && !line.includes("=?") ? line : encoded(line)
}

/** Encoded words of RFC 2047, one a line, cut between characters. */
const encoded = (text: string): string => {
  const words: Array<string> = [""]
  for (const character of text) {
    const longer = words.at(-1)! + character
    if (utf8(longer).length > WORD_BYTES) words.push(character)
    else words[words.length - 1] = longer
  }
  return words.map((word) => `=?UTF-8?B?${Buffer.from(utf8(word)).toString("base64")}?=`).join("\r\n ")
}
