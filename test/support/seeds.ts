// Sets the seed of property tests before each file, so that each run draws the same values. A
// failed property test prints its seed.
import fc from 'fast-check';
import { firstSeed } from './part.js';

fc.configureGlobal({ seed: firstSeed });
