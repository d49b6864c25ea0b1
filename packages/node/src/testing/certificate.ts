/**
 * Certificates for tests, made on the spot: a root and what it signs, P-256, valid for a century. Only as much of X.509
 * as a TLS client reads.
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto"

/** A key and its certificate, both in PEM. */
export interface Certificate {
  readonly key: string
  readonly cert: string
}

/** A root that signs. */
export interface TestAuthority {
  /** PEM, to be trusted. */
  readonly ca: string
  /** For these names and IPv4 addresses. */
  readonly issue: (names: ReadonlyArray<string>) => Certificate
}

const der = (tag: number, ...content: ReadonlyArray<Uint8Array>): Buffer => {
  const body = Buffer.concat(content)
  const length =
    body.length < 0x80
      ? [body.length]
      : body.length < 0x100
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}
const sequence = (...content: ReadonlyArray<Uint8Array>): Buffer => der(0x30, ...content)
const oid = (...bytes: ReadonlyArray<number>): Buffer => der(0x06, Buffer.from(bytes))
const ECDSA_SHA256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))
const commonName = (name: string): Buffer =>
  sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(name)))))
const VALIDITY = sequence(der(0x17, Buffer.from("200101000000Z")), der(0x18, Buffer.from("21200101000000Z")))
const extension = (id: number, value: Uint8Array): Buffer => sequence(oid(0x55, 0x1d, id), der(0x04, value))
const pem = (bytes: Uint8Array): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(bytes)
    .toString("base64")
    .replace(/(.{64})/g, "$1\n")
    .trimEnd()}\n-----END CERTIFICATE-----\n`

const certificate = (
  subject: string,
  publicKey: KeyObject,
  signer: KeyObject,
  issuer: string,
  extensions: ReadonlyArray<Uint8Array>
): string => {
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    commonName(issuer),
    VALIDITY,
    commonName(subject),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions))
  )
  return pem(sequence(toBeSigned, ECDSA_SHA256, der(0x03, Buffer.from([0]), sign("sha256", toBeSigned, signer))))
}

const subjectNames = (names: ReadonlyArray<string>): Buffer =>
  sequence(
    ...names.map((name) =>
      /^[0-9.]+$/.test(name) ? der(0x87, Buffer.from(name.split(".").map(Number))) : der(0x82, Buffer.from(name))
    )
  )

/** Makes a root. */
export const testAuthority = (): TestAuthority => {
  const root = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const isAuthority = extension(0x13, sequence(der(0x01, Buffer.from([0xff]))))
  return {
    ca: certificate("test root", root.publicKey, root.privateKey, "test root", [isAuthority]),
    issue: (names) => {
      const keys = generateKeyPairSync("ec", { namedCurve: "P-256" })
      return {
        key: keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
        cert: certificate("test", keys.publicKey, root.privateKey, "test root", [extension(0x11, subjectNames(names))])
      }
    }
  }
}
