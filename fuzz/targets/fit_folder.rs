#![no_main]

organza_fuzz::fuzz_bytes!(fit_folder);
