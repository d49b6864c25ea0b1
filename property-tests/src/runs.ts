/**
 * The two rounds of a property: a small one in `npm test`, the full one in `npm run test:long`.
 *
 * `npm run test:long` runs every test file that imports this file, and no other.
 */

/** True in the full round. `scripts/test.ts` sets the variable. */
export const isLong = process.env["FLYBALL_TEST_LONG"] === "1"

/** How often something is repeated, or how much of it a test expects. Both rounds use the same seeds. */
export const runs = (short: number, long: number): number => (isLong ? long : short)
