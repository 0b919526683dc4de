// What sanitizers say of libraries that are not built with them. They ask for it by these names.
// https://github.com/google/sanitizers/wiki/ThreadSanitizerSuppressions

// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {

// OpenSSL's tables are read without a lock (RCU, by atomics), which cannot be seen in a library
// that is not instrumented.
// https://github.com/openssl/openssl/blob/openssl-3.5/crypto/hashtable/hashtable.c
const char* __tsan_default_suppressions() {
    return "race:libcrypto.so\n";
}

// The addresses of name servers, which glibc keeps for each thread until the thread ends.
// https://sourceware.org/git/?p=glibc.git;a=blob;f=resolv/res_send.c
const char* __lsan_default_suppressions() {
    return "leak:__res_context_send\n";
}
}
// NOLINTEND(bugprone-reserved-identifier)
