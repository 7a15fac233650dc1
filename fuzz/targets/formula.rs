#![no_main]

organza_fuzz::fuzz_bytes!(formula);
