# SPDX-License-Identifier: Apache-2.0
"""vLLM whose engine sleeps between requests, as in reinforcement learning. sleeping.py MODEL"""

import sys

from vllm import LLM, SamplingParams


def generate(engine):
    prompts = [{"prompt_token_ids": list(range(1, 200))} for _ in range(8)]
    made = engine.generate(prompts, SamplingParams(max_tokens=16, detokenize=False, ignore_eos=True), use_tqdm=False)
    assert [len(one.outputs[0].token_ids) for one in made] == [16] * 8


def main():
    engine = LLM(sys.argv[1], load_format="dummy", skip_tokenizer_init=True, enforce_eager=True, max_model_len=4096,
                 enable_sleep_mode=True)
    generate(engine)
    for _ in range(2):
        engine.sleep(level=1)
        engine.wake_up()
        generate(engine)


if __name__ == "__main__":
    main()
