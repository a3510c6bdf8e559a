# SPDX-License-Identifier: Apache-2.0
"""A small mT5 of transformers (random weights) through Trainer with torch_compile."""

from transformers import MT5Config, MT5ForConditionalGeneration

from compiling import options
from mt5_trainer import Sentences
from trainers import train


def main():
    chosen = options(steps=4)
    config = MT5Config(vocab_size=1000, d_model=192, d_kv=32, d_ff=384, num_layers=2, num_decoder_layers=2,
                       num_heads=6, decoder_start_token_id=0)
    train(chosen, MT5ForConditionalGeneration(config), Sentences(256, 1000, (96, 64)), batch=16)


if __name__ == "__main__":
    main()
