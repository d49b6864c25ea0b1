/** The place of a document in lists, as look-up keys whose values sort as the lists do. Pure. */

/** The place of a document in the lists of its owner. */
export interface ListEntry {
  readonly owner: string
  readonly id: string
  readonly createdAtMs: number
  /** Values of its other orders, as texts that sort: see {@link sortable}. */
  readonly values?: { readonly [sort: string]: string }
  /** Words that the list can be cut down to, one at a time. They have no blanks. */
  readonly filters?: { readonly [name: string]: string }
}

/** A whole number from 0 as a text that sorts. */
export const sortable = (value: number): string => String(value).padStart(16, "0")

/** The values of its orders, by the field. */
export const sortValues = ({ createdAtMs, values = {} }: ListEntry): { readonly [sort: string]: string } => ({
  created_at: sortable(createdAtMs),
  ...values
})

/** The look-up keys by which a document is in lists: put them with it, each time. */
export const listKeys = (entry: ListEntry): { readonly [key: string]: string } =>
  Object.fromEntries(
    Object.entries(sortValues(entry)).flatMap(([sort, value]) => [
      [`list.${sort}`, `${entry.owner} ${value} ${entry.id}`],
      ...Object.entries(entry.filters ?? {}).map(([name, word]) => [
        `list.${sort}.${name}`,
        `${entry.owner} ${word} ${value} ${entry.id}`
      ])
    ])
  )
