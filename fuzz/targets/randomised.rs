#![no_main]

organza_fuzz::fuzz_documents!(randomised);
