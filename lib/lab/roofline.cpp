#include "lab/roofline.hpp"

#include "lab/format.hpp"

namespace lab {

Table operations_table(const ledger::Engine& engine, const ledger::Step& step) {
    Table table({{"operation", 12},
                 {"times", 6, true},
                 {"FLOPs", 18, true},
                 {"bytes", 12, true},
                 {"FLOPs a byte", 12, true},
                 {"its ceiling", 12},
                 {"predicted", 12, true}});
    const auto add = [&](const ledger::Operation& operation, const char* ceiling,
                         ledger::Seconds seconds) {
        table.add({operation.name, number(operation.times), number(operation.flops),
                   quantity(operation.bytes, "bytes"), number(operation.intensity()),
                   ceiling, quantity(seconds, "s")});
    };
    const auto operations = engine.operations(std::span(&step, 1));
    const double bytes = ledger::total_bytes(operations);
    const ledger::Machine machine = engine.machine().repeating(bytes);
    const char* const source = bytes <= machine.cache_bytes ? "cache" : "memory";
    for (const ledger::Operation& operation : operations)
        add(operation, operation.intensity() < machine.ridge() ? source : "arithmetic",
            ledger::predict(operation, machine));
    add({"all", 1, ledger::total_flops(operations), bytes}, "", engine.forward(step));
    return table;
}

}  // namespace lab
