//! A fuzzer of one target.
#![no_main]

organza_fuzz::fuzz_documents!(release);
