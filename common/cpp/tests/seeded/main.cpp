// Makes the mistake that it is told to make, so that the tests see whether it is reported.

#include <climits>
#include <cstdlib>
#include <functional>
#include <map>
#include <string_view>
#include <thread>
#include <vector>

namespace {

int data_race() {
    int shared = 0;
    std::thread other([&shared] { ++shared; });
    ++shared;
    other.join();
    return shared;
}

int use_after_free() {
    std::vector<int> numbers{1};
    const int& first = numbers.front();
    numbers.reserve(numbers.capacity() + 1);
    return first;
}

int leak() {
    std::vector<std::vector<int>*> lost;
    for (int number = 0; number < 10; ++number) {
        lost.push_back(new std::vector<int>(1, number));
    }
    return lost.back()->front();
}

int overflow() {
    volatile int most = INT_MAX;
    return most + 1;
}

int beyond_the_end() {
    const std::vector<int> numbers{1};
    const volatile std::size_t index = numbers.size();
    return numbers[index];
}

}  // namespace

int main(int count, char** arguments) {
    const std::map<std::string_view, std::function<int()>> mistakes{
        {"data-race", data_race}, {"use-after-free", use_after_free}, {"leak", leak},
        {"overflow", overflow},   {"beyond-the-end", beyond_the_end}, {"none", [] { return 0; }},
    };
    volatile int result = mistakes.at(count > 1 ? arguments[1] : "none")();
    static_cast<void>(result);
    return EXIT_SUCCESS;
}
