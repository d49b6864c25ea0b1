/** Checkpoints: the signed head of a tree. Spec: format 1 section 4; C2SP tlog-checkpoint. */
import { fromBase64, toBase64 } from "../bytes.ts"

/** The head of a tree: how many records, and the root over them. Spec: format 1 section 4. */
export interface Checkpoint {
  readonly origin: string
  readonly size: number
  /** 32 bytes. */
  readonly root: Uint8Array
}

/**
 * A checkpoint of any log: its origin may be any line, its root of any length, and lines may follow. Spec: C2SP
 * tlog-checkpoint.
 */
export interface GeneralCheckpoint extends Checkpoint {
  readonly extensions: ReadonlyArray<string>
}

/** Result of parsing a checkpoint: the checkpoint, or the reason why the text is none. */
export type CheckpointResult<A> =
  | { readonly ok: true; readonly checkpoint: A }
  | { readonly ok: false; readonly reason: string }

/** The text of a checkpoint, the part of a note that is signed. Spec: format 1 section 4. */
export const formatCheckpoint = (checkpoint: Checkpoint): string =>
  `${checkpoint.origin}\n${checkpoint.size}\n${toBase64(checkpoint.root)}\n`

/** Reads a checkpoint of format 1: exactly three lines, an origin, a root of 32 bytes. Spec: format 1 section 4. */
export const parseCheckpoint = (text: string): CheckpointResult<Checkpoint> => {
  const general = parseGeneralCheckpoint(text)
  if (!general.ok) return general
  const { extensions, origin, root, size } = general.checkpoint
  if (!isOrigin(origin))
    return no("the first line of a checkpoint is an origin: 1 to 255 printable ASCII characters, no space, no +")
  if (extensions.length > 0) return no("a checkpoint of this format has three lines and no more")
  if (root.length !== ROOT_BYTES) return no("the root of a checkpoint is base64 of 32 bytes")
  return { ok: true, checkpoint: { origin, root, size } }
}

/** Reads a checkpoint of any log that follows C2SP tlog-checkpoint. Spec: C2SP tlog-checkpoint. */
export const parseGeneralCheckpoint = (text: string): CheckpointResult<GeneralCheckpoint> => {
  if (!text.endsWith("\n")) return no("the text of a checkpoint ends in a newline")
  const [origin, sizeText, rootText, ...extensions] = text.slice(0, -1).split("\n")
  if (origin === undefined || sizeText === undefined || rootText === undefined)
    return no("a checkpoint has three lines: origin, tree size, root")
  if (origin === "") return no("the first line of a checkpoint is its origin")
  const size = parseDecimal(sizeText)
  if (size === null) return no("the tree size of a checkpoint is a decimal up to 2^53 - 1 without leading zeros")
  const root = fromBase64(rootText)
  if (root === null || root.length === 0) return no("the root of a checkpoint is base64")
  if (extensions.includes("")) return no("a checkpoint has no empty line in its text")
  return { ok: true, checkpoint: { extensions, origin, root, size } }
}

/**
 * True for a text that can be the origin of a chain: 1 to 255 printable ASCII characters, no space, no plus sign. Spec:
 * format 1 section 1.3.
 */
export const isOrigin = (text: string): boolean => /^[\x21-\x2a\x2c-\x7e]{1,255}$/.test(text)

/** The number a canonical decimal stands for: no sign, no leading zero, at most 2^53 - 1; null for anything else. */
export const parseDecimal = (text: string): number | null => {
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(text)) return null
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : null
}

const ROOT_BYTES = 32

const no = (reason: string): { readonly ok: false; readonly reason: string } => ({ ok: false, reason })
