/** Documents changed without a record, as somebody would who can write to the store. */
import { Storage } from "@flyball/core/storage"
import { Effect } from "effect"

/** A change that the check should find. */
export interface Tampered {
  readonly collection: string
  readonly id: string
  readonly path: string
}

/**
 * Members that derive from parts, which may be erased: the key of an org unit, instances that were expected, and the
 * question of a review, which the verdict that uses its approval is compared with.
 */
const ofParts = ["target", "expectedInstances", "question"]

/**
 * Changes one member of one document of each of these collections; answers what should be found, in their order. A
 * collection without a document has none.
 */
export const tamper = (collections: ReadonlyArray<string>, choice: number) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const targets: Array<Tampered> = []
    for (const collection of collections) {
      const documents = yield* storage.list(collection)
      const document = documents[choice % Math.max(1, documents.length)]
      if (document === undefined) continue
      const names = Object.keys(document.body)
        .filter((name) => !ofParts.includes(name))
        .sort()
      const name = names[choice % names.length]!
      const uniqueOf = (member: string): string => String(document.body[member])
      const uniques: { readonly [collection: string]: { readonly [key: string]: string } } = {
        agents: { name: uniqueOf("name") },
        ingest_keys: { digest: uniqueOf("digest") },
        platform_keys: { digest: uniqueOf("digest") },
        envelopes: { target: uniqueOf("target") }
      }
      // A principal's look-up key is a digest that the test does not know: it is lost, and that is found as well.
      yield* storage.commit({
        puts: [
          {
            collection,
            id: document.id,
            expectedVersion: document.version,
            body: { ...document.body, [name]: `tampered ${choice}` },
            unique: uniques[collection] ?? {}
          }
        ]
      })
      targets.push({ collection, id: document.id, path: `/${name}` })
    }
    return targets
  })
