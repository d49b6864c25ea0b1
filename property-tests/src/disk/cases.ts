/**
 * Whose disk fills up: that of a SQLite store, of key and guard, of the tables of Postgres. Each ends with an audit of
 * the store.
 */
import assert from "node:assert/strict"
import { chmodSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { dataFolder } from "@flyball/node"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { freshDatabase } from "@flyball/testkit/postgres"
import { audit } from "../audit/audit.ts"
import { type FullDisk, fullDataFolder, fullStore } from "./full-disk.ts"
import { canHaveSmallDisk } from "./small-disk.ts"
import { diskSpace, limitSpace, postgresOn, type Space } from "./space.ts"

/**
 * One case, in an empty folder. `rooms`: for each time that the disk fills up, how much is left when that begins. Unit:
 * bytes.
 */
export interface FullDiskCase {
  readonly name: string
  readonly run: (folder: string, rooms: ReadonlyArray<number>, seed: number) => Promise<FullDisk>
}

const withSpace = async <A>(space: Space, use: (space: Space) => Promise<A>): Promise<A> => {
  try {
    return await use(space)
  } finally {
    await space.close()
  }
}

const storeFile = (folder: string): string => join(folder, "flyball.db")

const sqliteStore = (space: Space, folder: string, rooms: ReadonlyArray<number>, seed: number): Promise<FullDisk> =>
  withSpace(space, async ({ folder: at, giveBack, how, prefix, settled, take }) => {
    const dataDir = join(folder, "data")
    const came = await fullStore({
      variables: { FLYBALL_DATABASE_URL: `sqlite:${storeFile(at)}` },
      prefix,
      dataDir,
      rooms,
      seed,
      take,
      giveBack
    })
    // What a full disk refuses is refused for sure; of a file that may not grow SQLite does not know.
    if (how === "small disk") assert.ok(came.book.refused.size > 5, "hardly anything was refused for sure")
    await audit(came.book, {
      storage: sqliteStorage({ file: storeFile(settled(join(folder, "settled"))) }),
      keys: dataFolder({ dir: dataDir }),
      where: how,
      pack: true
    })
    return came
  })

const guard = (space: Space, folder: string, seed: number): Promise<FullDisk> =>
  withSpace(space, async ({ folder: at, giveBack, prefix, settled, take }) => {
    const file = storeFile(folder)
    const came = await fullDataFolder({
      variables: { FLYBALL_DATABASE_URL: `sqlite:${file}` },
      prefix,
      dataDir: join(at, "data"),
      seed,
      take,
      giveBack
    })
    const dir = join(settled(join(folder, "settled")), "data")
    assert.deepEqual(
      readdirSync(join(dir, "guard")).filter((name) => !/^\d{16}$/.test(name)),
      [],
      "half-made files of the guard"
    )
    await audit(came.book, {
      storage: sqliteStorage({ file }),
      keys: dataFolder({ dir }),
      where: "key and guard",
      pack: true
    })
    return came
  })

const postgresTables = (space: Space, folder: string, rooms: ReadonlyArray<number>, seed: number): Promise<FullDisk> =>
  withSpace(space, async (space) => {
    // Started by root, Postgres is somebody else and must get through.
    chmodSync(folder, 0o711)
    const server = await postgresOn(space)
    try {
      const { url } = await freshDatabase(server.url, { folder: server.tables })
      const dataDir = join(folder, "data")
      const came = await fullStore({
        variables: { FLYBALL_DATABASE_URL: url },
        prefix: [],
        dataDir,
        rooms,
        seed,
        take: space.take,
        giveBack: space.giveBack
      })
      assert.ok(came.book.refused.size > 5, "hardly anything was refused for sure")
      await audit(came.book, {
        storage: postgresStorage({ url }),
        keys: dataFolder({ dir: dataDir }),
        where: "Postgres",
        pack: true
      })
      return came
    } finally {
      await server.stop()
    }
  })

/**
 * The cases that this host allows. Without namespaces only the size of files can be bounded, which reaches neither the
 * guard nor a single table.
 */
export const fullDiskCases: ReadonlyArray<FullDiskCase> = [
  {
    name: "under a SQLite store whose files may not grow",
    run: (folder, rooms, seed) => sqliteStore(limitSpace(join(folder, "disk")), folder, rooms, seed)
  },
  ...(canHaveSmallDisk()
    ? ([
        {
          name: "under a SQLite store",
          run: async (folder, rooms, seed) => sqliteStore(await diskSpace(join(folder, "disk")), folder, rooms, seed)
        },
        {
          name: "under key and guard",
          run: async (folder, _, seed) => guard(await diskSpace(join(folder, "disk")), folder, seed)
        },
        {
          name: "under the tables of Postgres",
          run: async (folder, rooms, seed) => postgresTables(await diskSpace(join(folder, "disk")), folder, rooms, seed)
        }
      ] satisfies ReadonlyArray<FullDiskCase>)
    : [])
]
