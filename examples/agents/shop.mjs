/** The acts of these agents in the world: your own code. */

export const lookup = async ({ order }) => `order ${order}: delivered, 25.00 EUR`

export const refund = async ({ order, cents }) => {
  console.log(`  (the shop refunds ${cents} for ${order})`)
  return `refunded ${cents}`
}

/** The calls that the mock models ask for in one turn. */
export const CALLS = [
  ["lookup", { order: "W100" }],
  ["refund", { order: "W100", cents: 2_500, card_number: "4000 0000 0000 0002" }],
  ["refund", { order: "W200", cents: 90_000, card_number: "4000 0000 0000 0002" }]
]

/** Signals of the envelope: the tool's name, and how much. */
export const signals = (tool, { cents }) => ({ tool, ...(cents === undefined ? {} : { cents }) })
