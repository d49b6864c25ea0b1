/** What `@flyball/evidence/node` promises: OpenSSL, files and compression for hosts on Node. */

export { nodeCrypto } from "./crypto.ts"

// Files and compression
export { compress, compressionFor } from "./compress.ts"
export type { Compression } from "./decompress.ts"
export { detectCompression, MAX_EXPANSION, MAX_FREE_CONTENT_BYTES, packContent } from "./decompress.ts"
export type { ByteSource, FileSource } from "./pack-source.ts"
export { bytesSource, fileSource, PackFileUnusable } from "./pack-source.ts"
export type { ComparedPacks, VerifyFileOptions } from "./verify-pack-file.ts"
export { comparePackFiles, verifyPackFile } from "./verify-pack-file.ts"
