import fc from "fast-check";

/**
 * One run of the tests is like another: generated cases come from this seed. `BDK_PROPERTY_SEED` asks for other cases
 * (`BDK_PROPERTY_SEED=7 npx vitest run test/unit/diff-properties.test.ts`); a case that fails then is worth a test of its own.
 */
fc.configureGlobal({ seed: Number(process.env.BDK_PROPERTY_SEED ?? 20_261_130) });
