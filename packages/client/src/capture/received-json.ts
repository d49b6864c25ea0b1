/** A JSON text as it was received, of which no value says the same. A record holds its digest. */

/** Why a value says less than its text. */
export type InexactReason = "inexact_number" | "duplicate_name"

/** Such a text. It is recorded as a withheld value. */
export class ReceivedJson {
  readonly text: string
  readonly reason: InexactReason
  constructor(text: string, reason: InexactReason) {
    this.text = text
    this.reason = reason
  }
}
