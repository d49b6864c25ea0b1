/** The writer and a reader over one database in memory, without threads or Effect. */
import { DatabaseSync } from "node:sqlite"
import type { ChangeSet } from "@flyball/core/storage"
import { partCount, readyOutbox } from "@flyball/core/storage"
import { ChainReader } from "../chain-reader.ts"
import { ChainWriter } from "../commit.ts"
import { migrate } from "../migrate.ts"
import { prepare } from "../prepared-change.ts"

/** A new store. `commit` commits one batch, with salts of zeros; `rollbacks` counts those so far. */
export const openWriter = () => {
  const db = new DatabaseSync(":memory:")
  migrate(db)
  const writer = new ChainWriter(db)
  let rollbacks = 0
  const exec = db.exec.bind(db)
  db.exec = (sql) => {
    if (sql === "ROLLBACK") rollbacks += 1
    exec(sql)
  }
  const commit = (...changes: ReadonlyArray<ChangeSet>) => {
    const prepared = changes.map((change) =>
      prepare(
        change,
        new Uint8Array(partCount(change.records ?? []) * 32),
        readyOutbox(change, { bytes: (n) => new Uint8Array(n) })
      )
    )
    return writer.commit(1000, prepared)
  }
  return { db, commit, reader: new ChainReader(db), rollbacks: () => rollbacks }
}

/** Tags of the answers to the ChangeSets of a batch. */
export const tags = ({
  answers
}: {
  readonly answers: ReadonlyArray<{ readonly _tag: string }>
}): ReadonlyArray<string> => answers.map(({ _tag }) => _tag)
