/** Public API of `@flyball/evidence/node`: OpenSSL, files and compression for hosts on Node. */

export { nodeCrypto } from "./crypto.ts"

// Files and compression
export { compress, compressionFor } from "./compress.ts"
export type { ByteSource } from "../pack/byte-source.ts"
export { bytesSource, PackFileUnusable } from "../pack/byte-source.ts"
export type { Compression } from "../pack/compression.ts"
export { detectCompression, MAX_EXPANSION, MAX_FREE_CONTENT_BYTES } from "../pack/compression.ts"
export { packContent } from "./decompress.ts"
export type { FileSource } from "./pack-source.ts"
export { fileSource } from "./pack-source.ts"
export type { ComparedPacks, VerifyFileOptions } from "./verify-pack-file.ts"
export { comparePackFiles, verifyPackFile } from "./verify-pack-file.ts"
