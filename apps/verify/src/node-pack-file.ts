/** A pack in a file, read by Node and checked with OpenSSL. */
import { stat } from "node:fs/promises"
import { detectCompression, fileSource, nodeCrypto, packContent } from "@flyball/evidence/node"
import type { PackFile } from "./pack-file.ts"

/** The file of that path. It is opened for each reading. Fails: a reading fails as `fileSource` does. */
export const nodePackFile = (path: string): PackFile => ({
  name: path,
  crypto: nodeCrypto,
  content: async function* () {
    await using source = await fileSource(path)
    yield* packContent(source, await detectCompression(source))
  },
  bytes: async function* () {
    await using source = await fileSource(path)
    yield* source.chunks(0)
  },
  identity: async () => {
    const { ctimeNs, dev, ino, mtimeNs, size } = await stat(path, { bigint: true })
    return [dev, ino, size, mtimeNs, ctimeNs].join()
  }
})
