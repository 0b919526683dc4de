default:
    @just --list
