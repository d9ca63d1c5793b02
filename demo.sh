#!/bin/sh
echo "placeholder: //runtime/cli:unpack is on its way"
