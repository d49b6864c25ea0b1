/**
 * Rows as files in a folder: one file for each row, and one for all that a change adds to an append-only table.
 *
 * The life of a change: all its rows go into one journal file, which is synced and renamed into its place; that is the
 * commit. Then each row's file is replaced or removed and synced, and the journal goes. A crash before the rename leaves
 * nothing; a crash after it is finished at the next opening.
 */
import { createHash } from "node:crypto"
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync
} from "node:fs"
import { join } from "node:path"

/** A table's name, a row's key in it, and the row; null for one that goes. */
type Change = readonly [table: string, key: string, row: object | null]

/** The table whose rows are added and never changed. */
const APPENDED = "record"

/** Tables of rows. A row is plain data and byte arrays, and is never changed in its place. */
export class Files {
  readonly #folder: string
  readonly #tables = new Map<string, Map<string, object>>()
  /** What rows were before the change under way, by table and key. */
  #before: Map<string, Change> | null = null

  /** Opens a folder, which is made if it is new. Finishes a change that a crash cut short. */
  constructor(folder: string) {
    this.#folder = folder
    mkdirSync(folder, { recursive: true })
    if (existsSync(this.#journal)) this.#spread(decode(readFileSync(this.#journal, "utf8")) as ReadonlyArray<Change>)
    for (const name of readdirSync(folder)) {
      if (!name.endsWith(".row")) continue
      for (const [table, key, row] of decode(readFileSync(join(folder, name), "utf8")) as ReadonlyArray<Change>)
        this.#rows(table).set(key, row!)
    }
  }

  get #journal(): string {
    return join(this.#folder, "journal")
  }

  get<A extends object>(table: string, key: string): A | undefined {
    return this.#rows(table).get(key) as A | undefined
  }

  all<A extends object>(table: string): ReadonlyMap<string, A> {
    return this.#rows(table) as Map<string, A>
  }

  put(table: string, key: string, row: object): void {
    this.#note(table, key)
    this.#rows(table).set(key, row)
  }

  remove(table: string, key: string): void {
    this.#note(table, key)
    this.#rows(table).delete(key)
  }

  /** Makes what `run` changes durable, all of it. What throws, and what cannot be written, changes nothing. */
  transact<A>(run: () => A): A {
    const before = (this.#before = new Map<string, Change>())
    try {
      const answer = run()
      const changes = [...before.values()].map(([table, key]): Change => [table, key, this.get(table, key) ?? null])
      if (changes.length > 0) {
        write(`${this.#journal}.new`, encode(changes))
        renameSync(`${this.#journal}.new`, this.#journal)
        sync(this.#folder)
      }
      before.clear()
      if (changes.length > 0) this.#spread(changes)
      return answer
    } finally {
      for (const [table, key, row] of before.values())
        if (row === null) this.#rows(table).delete(key)
        else this.#rows(table).set(key, row)
      this.#before = null
    }
  }

  /** Brings the files of a journal's rows up to date. Doing it again changes nothing. */
  #spread(changes: ReadonlyArray<Change>): void {
    const added = changes.filter(([table]) => table === APPENDED)
    const groups = [...changes.filter(([table]) => table !== APPENDED).map((one) => [one]), added]
    for (const group of groups) {
      const [first] = group
      if (first === undefined) continue
      // Keys are any text of up to 1,024 bytes, and names of files are not.
      const hash = createHash("sha256").update(`${first[0]}\0${first[1]}`).digest("hex")
      const name = join(this.#folder, `${hash}.row`)
      if (first[2] === null) rmSync(name, { force: true })
      else {
        write(`${name}.new`, encode(group))
        renameSync(`${name}.new`, name)
      }
    }
    sync(this.#folder)
    rmSync(this.#journal)
  }

  #rows(table: string): Map<string, object> {
    let rows = this.#tables.get(table)
    if (rows === undefined) this.#tables.set(table, (rows = new Map()))
    return rows
  }

  #note(table: string, key: string): void {
    const slot = `${table}\0${key}`
    if (!this.#before!.has(slot)) this.#before!.set(slot, [table, key, this.get(table, key) ?? null])
  }
}

const write = (path: string, text: string): void => {
  const file = openSync(path, "w", 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

const sync = (folder: string): void => {
  const file = openSync(folder, "r")
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

const encode = (value: unknown): string =>
  JSON.stringify(value, function (this: { readonly [name: string]: unknown }, name, made: unknown) {
    const raw = this[name]
    return raw instanceof Uint8Array ? { $bytes: Buffer.from(raw).toString("base64") } : made
  })

const decode = (text: string): unknown =>
  JSON.parse(text, (_, value: unknown) =>
    typeof value === "object" && value !== null && "$bytes" in value
      ? new Uint8Array(Buffer.from(String(value.$bytes), "base64"))
      : value
  )
