//! What the system gives: large buffers in huge pages, and room for threads.

/// Buffers from this size on are worth asking.
pub const WORTH_IT: usize = 4 << 20;

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

/// Whether a thread can be started without risk to the process.
///
/// A thread whose stack comes from a cache starts where no memory can be had, and then glibc ends
/// the process for want of its thread-local data.
#[must_use]
pub fn has_room_for_thread() -> bool {
    #[cfg(target_os = "linux")]
    {
        const ROOM: usize = 1 << 20;
        // SAFETY: a new private mapping at an address of the system's choice touches nothing
        // that exists, and it is given back at once.
        unsafe {
            let room = libc::mmap(
                std::ptr::null_mut(),
                ROOM,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            if room == libc::MAP_FAILED {
                return false;
            }
            libc::munmap(room, ROOM);
        }
    }
    true
}
