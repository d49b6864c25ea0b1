/**
 * Addresses that letters can be sent to. One rule for what is taken in, for the settings and for the mailer: what one
 * of them takes, no other refuses.
 */
import { check, text } from "./fields.ts"

/** Unit: characters. RFC 5321 section 4.5.3.1.1, and 4.5.3.1.3 without the two angle brackets. */
const MAX_LOCAL_CHARACTERS = 64
const MAX_CHARACTERS = 254

const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
const ADDRESS = new RegExp(`^(${ATOM}(?:\\.${ATOM})*)@${LABEL}(?:\\.${LABEL})*$`)

/**
 * True for an address to which a letter can be sent.
 *
 * - Shape: the dotted form of RFC 5321 in ASCII. Quoted names, comments, address literals and addresses in other
 *   alphabets are none.
 */
export const isMailAddress = (address: string): boolean =>
  address.length <= MAX_CHARACTERS && (ADDRESS.exec(address)?.[1]?.length ?? Infinity) <= MAX_LOCAL_CHARACTERS

/** An address that is written to. */
export const mailAddress = text(3, MAX_CHARACTERS).check(
  check<string>(
    isMailAddress,
    { type: "value_error", msg: "value is not a deliverable email address in ASCII" },
    { format: "email" }
  )
)
