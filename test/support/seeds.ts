// Before each file: properties draw the same values in each run, and a failure prints the seed.
import fc from 'fast-check';
import { firstSeed } from './part.js';

fc.configureGlobal({ seed: firstSeed });
