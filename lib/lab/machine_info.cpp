#include "lab/machine_info.hpp"

#include <unistd.h>

#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

#include <fstream>

namespace lab {

std::string cpu_name() {
#ifdef __APPLE__
    char name[256] = {};
    std::size_t size = sizeof name - 1;
    if (sysctlbyname("machdep.cpu.brand_string", name, &size, nullptr, 0) == 0)
        return name;
#else
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos)
            return line.substr(colon + 2);
    }
#endif
    return "unknown processor";
}

std::int64_t memory_bytes() {
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? std::int64_t(pages) * size : 0;
}

std::string machine_slug(std::string_view processor, int threads) {
    std::string name(processor.substr(0, processor.find('@')));
    for (const char* mark : {"(R)", "(TM)", "(r)", "(tm)", "CPU", "Processor"})
        for (std::size_t at; (at = name.find(mark)) != std::string::npos;)
            name.replace(at, std::string_view(mark).size(), 1, ' ');
    std::string slug;
    for (const char c : name) {
        if (c >= 'A' && c <= 'Z')
            slug += char(c - 'A' + 'a');
        else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            slug += c;
        else if (!slug.empty() && slug.back() != '-')
            slug += '-';
    }
    while (slug.ends_with('-')) slug.pop_back();
    if (threads == 0) return slug;
    if (!slug.empty()) slug += '-';
    return slug + std::to_string(threads) + (threads == 1 ? "-core" : "-cores");
}

}  // namespace lab
