/**
 * Checks the form of bodies, fast because neighbours are alike.
 *
 * Records of one kind have the same member names in the same order, and most of their values are those of a record
 * shortly before. So a
 * body is compared, eight bytes at a time, with one that was fully checked: the same bytes have the same form. Only
 * members that differ
 * are scanned. The answer is that of `FormScanner.object` in every case; a test holds the two against each other.
 */
import { type FormScanner, MAX_RECORD_DEPTH } from "../json/form.ts"

/** Room that a body's members have: the record and the body are open already. */
const ROOM = MAX_RECORD_DEPTH - 2
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const CLOSE_OBJECT = 0x7d

/** A body that was checked, kept to compare others with. Longer ones are scanned each time. */
class Model {
  static readonly maxBytes = 4096
  static readonly maxMembers = 64
  /** Bytes in front of the body, so that eight bytes that end in it may begin before it. */
  static readonly pad = 8
  readonly bytes = new Uint8Array(Model.pad + Model.maxBytes + 8)
  readonly view = new DataView(this.bytes.buffer)
  /** Per member: where its name's quote, its value, and what follows its comma or brace stand. */
  readonly names = new Int32Array(Model.maxMembers + 1)
  readonly values = new Int32Array(Model.maxMembers)
  readonly ends = new Int32Array(Model.maxMembers)
  count = 0
  end = 0
  /** Members that differed in the body that came after it; -1: not known yet. */
  usual = -1
  /** Bodies in a row that differed in more. */
  worse = 0
}

/** Bodies of different kinds begin differently: a few models, found by the first letters. */
const MODELS = 8
/** Bodies in a row that a model may fit badly before it is replaced: a new run began, or another agent writes. */
const PATIENCE = 4
/** So many members that the model does not have, and comparing is no gain any more. */
const MAX_FOREIGN = 8

/** Scans bodies of the bytes that its form scanner is attached to. */
export class BodyScanner {
  readonly #form: FormScanner
  readonly #models: ReadonlyArray<Model> = Array.from({ length: MODELS }, () => new Model())

  constructor(form: FormScanner) {
    this.#form = form
  }

  /**
   * Checks the body whose opening brace is at `open`; returns the index behind its closing brace, or -1.
   * `limit`: no body that can pass ends behind it, and it lies at least 8 bytes before the end of the array.
   */
  body(open: number, limit: number): number {
    const form = this.#form
    const bytes = form.bytes
    if (bytes[open + 1] === CLOSE_OBJECT) return open + 2
    if (open + 8 > limit) return form.object(open, ROOM + 1)
    const model = this.#models[(bytes[open + 2]! ^ (bytes[open + 4]! << 1) ^ bytes[open + 6]!) & (MODELS - 1)]!
    if (model.count > 0) return this.#compare(model, open, limit)
    const end = form.object(open, ROOM + 1)
    if (end >= 0) this.#learn(model, open, end)
    return end
  }

  #compare(model: Model, open: number, limit: number): number {
    const form = this.#form
    const { bytes, view } = form
    const { count, names, values, ends } = model
    let at = open + 1
    let member = 0
    let misses = 0
    let foreigners = 0
    // The name before, in these bytes; `foreign` when it is none of the model's, so that the next one's place must be
    // looked at.
    let before = -1
    let beforeEnd = -1
    let foreign = false
    for (;;) {
      if (member < count) {
        const first = member
        const from = names[first]!
        const reached = from + equalRun(view, at, limit, model.view, from, model.end)
        while (member < count && ends[member]! <= reached) member++
        if (member > first) {
          if (foreign && !form.ascends(before, beforeEnd, at + 1, at + values[first]! - from - 2)) return -1
          foreign = false
          at += names[member]! - from
          if (member === count) break
          const width = values[member - 1]! - names[member - 1]!
          before = at - (names[member]! - names[member - 1]!) + 1
          beforeEnd = before + width - 3
        }
      }
      if (at > limit || bytes[at] !== QUOTE) return -1
      misses++
      const name = at + 1
      let known = member
      while (known < count && !same(view, at, limit, model.view, names[known]!, values[known]!)) known++
      let nameEnd: number
      if (known < count) {
        nameEnd = at + values[known]! - names[known]! - 2
        if (foreign && !form.ascends(before, beforeEnd, name, nameEnd)) return -1
        foreign = false
        member = known + 1
      } else {
        if (++foreigners > MAX_FOREIGN) return form.object(open, ROOM + 1)
        nameEnd = form.string(name)
        if (nameEnd < 0 || bytes[nameEnd + 1] !== COLON) return -1
        if (before >= 0 && !form.ascends(before, beforeEnd, name, nameEnd)) return -1
        foreign = true
      }
      before = name
      beforeEnd = nameEnd
      at = form.value(nameEnd + 2, ROOM)
      if (at < 0) return -1
      const next = bytes[at++]
      if (next === CLOSE_OBJECT) break
      if (next !== COMMA) return -1
    }
    if (model.usual < 0) model.usual = misses
    else if (misses <= model.usual) model.worse = 0
    else if (++model.worse === PATIENCE) this.#learn(model, open, at)
    return at
  }

  /** Makes a body that was just checked the model. */
  #learn(model: Model, open: number, end: number): void {
    // Nothing may be compared with a model that is half of one body and half of another.
    model.count = 0
    if (end - open > Model.maxBytes) return
    const form = this.#form
    const shift = Model.pad - open
    let at = open + 1
    let count = 0
    while (at < end) {
      if (count === Model.maxMembers) return
      const value = form.string(at + 1) + 2
      const after = form.value(value, ROOM) + 1
      model.names[count] = at + shift
      model.values[count] = value + shift
      model.ends[count] = after + shift
      count++
      at = after
    }
    model.bytes.set(form.bytes.subarray(open, end), Model.pad)
    model.end = end + shift
    model.names[count] = model.end
    model.count = count
    model.usual = -1
    model.worse = 0
  }
}

/**
 * How many bytes from `at` are those of the model from `from`, rounded down to a multiple of four except at the model's
 * end.
 * Compared as doubles: two that are equal have the same bits, since a checked body has no zero bytes (and NaN merely
 * counts as different).
 */
const equalRun = (view: DataView, at: number, limit: number, model: DataView, from: number, end: number): number => {
  const width = Math.min(end - from, limit - at)
  let run = 0
  while (run + 8 <= width) {
    if (view.getFloat64(at + run, true) !== model.getFloat64(from + run, true)) {
      return view.getInt32(at + run, true) === model.getInt32(from + run, true) ? run + 4 : run
    }
    run += 8
  }
  // The last eight bytes once more, in part; before the first member that reaches into what was compared earlier.
  return run < width && view.getFloat64(at + width - 8, true) === model.getFloat64(from + width - 8, true) ? width : run
}

/**
 * Whether the bytes from `at` are those of the model at [from, to), which are at least four. The last word overlaps the
 * one before.
 */
const same = (view: DataView, at: number, limit: number, model: DataView, from: number, to: number): boolean => {
  if (at + (to - from) > limit || view.getInt32(at, true) !== model.getInt32(from, true)) return false
  const last = to - 4
  const shift = at - from
  for (let i = from + 4; i < last; i += 4) if (view.getInt32(i + shift, true) !== model.getInt32(i, true)) return false
  return view.getInt32(last + shift, true) === model.getInt32(last, true)
}
