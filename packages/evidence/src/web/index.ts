/** Public API of `@flyball/evidence/web`: files of a browser as packs, by the web's own interfaces. */
export type { ByteSource } from "../pack/byte-source.ts"
export { PackFileUnusable } from "../pack/byte-source.ts"
export type { Compression } from "../pack/compression.ts"
export { detectCompression } from "../pack/compression.ts"
export { blobSource } from "./blob-source.ts"
export { packContent } from "./pack-content.ts"
