//! Large buffers in huge pages: first touch and look-ups cost less.

/// Buffers from this size on are worth asking.
const WORTH_IT: usize = 4 << 20;

/// Ask for huge pages behind the capacity of `buffer`, before it is first touched.
///
/// Where the system has none, or will not give them, nothing changes.
pub fn ask_for_huge_pages<T>(buffer: &mut Vec<T>) {
    let n_bytes = buffer.capacity() * size_of::<T>();
    if n_bytes < WORTH_IT {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let start = buffer.as_mut_ptr().addr().next_multiple_of(PAGE);
        let end = (buffer.as_mut_ptr().addr() + n_bytes) & !(PAGE - 1);
        let skipped = start - buffer.as_mut_ptr().addr();
        // SAFETY: the range lies inside the allocation of `buffer`; the advice changes how its
        // pages are backed, never what they hold.
        unsafe {
            let first = buffer.as_mut_ptr().cast::<u8>().add(skipped);
            libc::madvise(first.cast(), end - start, libc::MADV_HUGEPAGE);
        }
    }
}
